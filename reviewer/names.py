"""Which scenario a name in a plan or a report means."""

import difflib
import re
from collections.abc import Iterable, Sequence

from packets.deltas import VerificationExpectation
from reviewer.scenarios import Scenario


def means(name: str, scenario: Scenario) -> bool:
    """Say whether NAME is the scenario's id, its bare name, what follows `test_` in it, a row's id, or gives its title.

    `path::*` means every scenario of a file. In other languages than Python, `adds_up` also means `TestAddsUp`.
    """
    if name in (scenario.id, scenario.name, scenario.bare) or scenario.bare == f"test_{name}":
        return True
    if name == f"{scenario.path}::*":
        return True
    if scenario.row_named(name):
        return True
    if not is_title(scenario):
        return False
    wanted = folded(name)
    if wanted and wanted in (folded(scenario.bare), folded(scenario.title), folded(scenario.name)):
        return True
    squashed = wanted.replace("_", "")
    return bool(squashed) and _squashed(scenario) in (squashed, f"test{squashed}")


def is_title(scenario: Scenario) -> bool:
    """Say whether it is one of the scenarios with a free title, as `it(...)` has."""
    return not scenario.path.endswith((".py", ".pyi"))


def _squashed(scenario: Scenario) -> str:
    """Return the bare name of a Go, Rust, Java or Kotlin test without case and signs; nothing for free titles."""
    if not scenario.path.endswith((".go", ".rs", ".java", ".kt")):
        return ""
    return folded(scenario.bare).replace("_", "")


def folded(title: str) -> str:
    """Return a title as a name: every run of other characters becomes `_`, case ignored."""
    return re.sub(r"[^a-z0-9]+", "_", title.lower()).strip("_")


def meant_id(name: str, identifier: str) -> bool:
    """Say whether NAME means the scenario of this id (`path::Class::test_x[row]`), as reports and JUnit give it."""
    own = identifier.partition("::")[2] or identifier
    bare, _, row = own.rpartition("::")[2].partition("[")
    row = row.removesuffix("]")
    options = {identifier, own, own.partition("[")[0], bare, f"{bare}[{row}]", row} - {""}
    if identifier.partition("::")[0].endswith(".go"):
        options |= {own.rpartition("/")[2]}
    if name in options or f"test_{name}" in (bare, row):
        return True
    wanted = folded(name)
    if not wanted or identifier.partition("::")[0].endswith((".py", ".pyi")):
        return wanted == folded(own.rpartition("::")[2])
    last = re.split(r"::|/", own)[-1] if ".go::" in identifier else own.rpartition("::")[2]
    squashed = wanted.replace("_", "")
    camel = ".go::" in identifier or ".java::" in identifier or ".rs::" in identifier
    plain = folded(last).replace("_", "") if camel else ""
    return wanted in (folded(last), folded(own)) or plain in (squashed, f"test{squashed}")


def declared(expected: Iterable[VerificationExpectation], verbs: Iterable[str], *ids: str) -> bool:
    """Say whether the plan expects, with one of the verbs, what happened to the scenario of one of these ids."""
    return any(
        e.verb in verbs and (meant_id(e.name, each) or e.name == f"{each.partition('::')[0]}::*")
        for e in expected
        if e.kind == "scenario"
        for each in ids
    )


def nearest(name: str, known: Iterable[str]) -> Sequence[str]:
    """Return up to three names that look like NAME."""
    by_bare = {each.rpartition("::")[2].removeprefix("test_"): each for each in known}
    return [by_bare[match] for match in difflib.get_close_matches(name.removeprefix("test_"), by_bare, 3, 0.5)]
