"""Proposed modules as the text of a plan: names, what each may write, what it needs, which tests judge it."""

import json
import re
from collections.abc import Sequence
from os.path import commonpath

from controller.plan.communities import Proposal
from controller.plan.survey import Survey
from packets.ids import module_id_fault

_RUN = 40
"""Test files that a check names one by one."""

_LINE = 110
_TEMPLATE = """\
      - id: {name}
        purpose: Say in a sentence what is to be done here    # {holds}
        depends_on:{needs}
        write_scope:{scope}
        verification:
          module_local_checks:{checks}
"""


def proposed(found: Sequence[Proposal], survey: Survey) -> str:
    """Return the entries of `modules:`, each with a comment that says what lies in it."""
    names = named(found)
    return "\n".join(
        _TEMPLATE.format(
            name=names[number],
            holds=_holds(each),
            needs=_listed([names[other] for other in each.depends_on], 8),
            scope=_listed(each.scope, 8),
            checks=_listed(_checks(each, survey), 10),
        )
        for number, each in enumerate(found)
    )


def named(found: Sequence[Proposal]) -> list[str]:
    """Name each by the one folder that it has, or by the file that others use most; no two alike."""
    names: list[str] = []
    for each in found:
        folder = commonpath(each.files) if len(each.files) > 1 else ""
        name = _camel(folder if f"{folder}/" in each.scope else each.heart)
        number, wanted = 1, name
        while wanted.lower() in {known.lower() for known in names}:
            number += 1
            wanted = f"{name}{number}"
        names.append(wanted)
    return names


def _camel(path: str) -> str:
    """Make an id of the last two parts of a path that say something."""
    parts = [
        part
        for part in re.sub(r"\.\w+$", "", path).split("/")
        if part not in ("src", "lib", "__init__", "index", "mod")
    ]
    words = re.findall(r"[A-Za-z0-9]+", " ".join(parts[-2:]))
    words = [word for at, word in enumerate(words) if not at or word.lower() != words[at - 1].lower()]
    name = "".join(word[:1].upper() + word[1:] for word in words)[:60]
    return name if name[:1].isalpha() and not module_id_fault(name) else f"Part{name}"[:60]


def _holds(each: Proposal) -> str:
    tests = f", {len(each.tests)} of tests" if each.tests else ""
    shown = ", ".join(json.dumps(path, ensure_ascii=True)[1:-1] for path in each.files[:3])
    more = ", …" if len(each.files) > 3 else ""  # noqa: PLR2004 - as many as are shown
    return f"{len(each.files)} file{'s' if len(each.files) > 1 else ''}{tests}: {shown}{more}"


def _checks(each: Proposal, survey: Survey) -> list[str]:
    """Return the command that runs the module's own tests, where the way to name them is known."""
    if survey.language == "Python" and "pytest" in survey.check:
        paths = list(dict.fromkeys(place for path in each.tests if (place := _named(path, each.scope))))
        if paths and len(paths) <= _RUN and all(re.fullmatch(r"[\w./-]+", path) for path in paths):
            return [f"{survey.check} {' '.join(paths)}"]
    if survey.language == "Go":
        homes = sorted({path.rpartition("/")[0] for path in each.tests})
        if homes and len(homes) <= _RUN and all(re.fullmatch(r"[\w./-]*", home) for home in homes):
            return [f"go test {' '.join(f'./{home}' if home else '.' for home in homes)}"]
    return []


def _named(test: str, scope: Sequence[str]) -> str:
    """Return the file, or the folder of the scope that holds it: a file that a check names is a judge."""
    name = test.rpartition("/")[2]
    if not name.startswith("test_") and not name.endswith("_test.py"):
        return ""
    return (
        test
        if test in scope
        else next((e for e in scope if e.endswith("/") and test.startswith(e)), f"{test[: -len(name)]}")
    )


def _listed(entries: Sequence[str], indent: int) -> str:
    """Write a list in one line, or in several where it is long."""
    written = [json.dumps(entry, ensure_ascii=False) if _odd(entry) else entry for entry in entries]
    line = f"[{', '.join(written)}]"
    if len(line) <= _LINE - indent:
        return f" {line}"
    return "".join(f"\n{' ' * (indent + 2)}- {entry}" for entry in written)


def _odd(text: str) -> bool:
    return not re.fullmatch(r"[A-Za-z][\w./-]*", text)
