"""Which scenario a report means: every runner calls tests otherwise, and from a root of its own.

pytest says `tests/test_a.py::TestX::test_y[row]`, unittest's reporters `tests.test_a.TestX::test_y`; vitest, jest and
mocha put the titles around a test in front of it; `go test` says package and `TestX/sub`, cargo the module's path,
JUnit and surefire the class and the method, or its display name.
"""

import re

from reviewer.names import folded
from reviewer.scenarios import Scenario

_HOLE = re.compile(r"%[sdifjoOp#]|\$\{?[\w.]+\}?")
_CALLED = re.compile(r"[(\[{].*$", re.DOTALL)


def ran_as(scenario: Scenario, reported: str, row: str = "") -> bool:
    """Say whether a runner's id is this scenario, or with `row` that row of it."""
    kind = scenario.path.rpartition(".")[2].lower()
    if kind in ("py", "pyi"):
        return _python(scenario, reported, row)
    if kind == "go":
        return _go(scenario, reported, row)
    if kind == "rs":
        return _rust(scenario, reported)
    if kind in ("java", "kt", "groovy", "scala"):
        return _java(scenario, reported, row)
    return _title(scenario, reported, row)


def _python(scenario: Scenario, reported: str, row: str) -> bool:
    place, _, name = reported.partition("::")
    if row and not name.endswith(f"[{row}]"):
        return False
    plain = name.partition("[")[0]
    if place.endswith((".py", ".pyi")):
        if scenario.name not in (name, plain):
            return False
        return scenario.path == place or scenario.path.endswith(f"/{place}")
    owner = [*scenario.path.rpartition(".")[0].split("/"), *scenario.name.split("::")[:-1]]
    said = place.split(".")
    return bool(place) and scenario.bare in (name, plain) and owner[-len(said) :] == said


def _go(scenario: Scenario, reported: str, row: str) -> bool:
    package, _, name = reported.rpartition("::")
    wanted = f"{scenario.name}/{row}" if row else scenario.name
    folder = scenario.path.rpartition("/")[0]
    beside = not folder or not package or package.endswith(folder) or folder.endswith(package)
    return name == wanted and beside


def _rust(scenario: Scenario, reported: str) -> bool:
    return reported == scenario.name or reported.endswith(f"::{scenario.name}")


def _java(scenario: Scenario, reported: str, row: str) -> bool:
    owner, _, name = reported.rpartition("::")
    classes = re.split(r"[.$]|::", owner)
    wanted = scenario.name.split("::")[:-1]
    if owner and wanted and classes[-len(wanted) :] != wanted:
        return False
    if row and folded(row) not in folded(name):
        return False
    bare = scenario.bare.partition(" #")[0]
    called = _CALLED.sub("", name).strip()
    return bare in (name, called) or folded(scenario.title or bare) in (folded(name), folded(called))


def _title(scenario: Scenario, reported: str, row: str) -> bool:
    """Compare the titles around a test with it; a report that names another file means another test."""
    place, _, _ = reported.partition("::")
    if _is_other_file(scenario.path, place):
        return False
    name = scenario.name.removesuffix(scenario.bare) + row if row else scenario.name
    given = folded(reported)
    pieces = [folded(piece) for piece in _HOLE.split(re.sub(r" #\d+$", "", name))]
    if not any(pieces):
        return False
    pattern = r".*?".join(re.escape(piece) for piece in pieces)
    return re.search(rf"(?:^|_){pattern}$" if pieces[-1] else rf"(?:^|_){pattern}", given) is not None


def _is_other_file(path: str, place: str) -> bool:
    suffix = f".{path.rpartition('.')[2]}"
    if not place.endswith(suffix):
        return False
    return not (path == place or path.endswith(f"/{place}") or place.endswith(f"/{path}"))
