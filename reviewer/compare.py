"""Test files before and after: which scenarios were added, removed, moved, changed, skipped, weakened."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from packets.deltas import VerificationDelta
from reviewer.assertions import NO_SKIP, Skip
from reviewer.paths import is_named_test, is_python_test, is_test_path
from reviewer.scenarios import Scenario, TestFile, read_tests
from reviewer.shadowing import shadows
from reviewer.titles import read_titles
from reviewer.weakening import weaker

Blobs = Callable[[Iterable[str]], Iterator[tuple[str, bytes]]]
"""Blob ids in, (id, content) out."""


@dataclass(frozen=True)
class Lost:
    """A scenario, a row of one, or a whole test file that is no more."""

    id: str
    path: str
    line: int = 0
    row: bool = False


@dataclass(frozen=True)
class Altered:
    """A scenario whose meaning changed. `skipped` and `weakened` say how; both empty: only different."""

    old: Scenario
    new: Scenario
    skipped: Skip = NO_SKIP
    weakened: str = ""
    emptied: bool = False


@dataclass(frozen=True)
class Support:
    """A helper, fixture, constant or data file of the tests that changed; `weakened` says how it lost assertions."""

    path: str
    name: str
    line: int = 0
    weakened: str = ""


@dataclass
class TestsDiff:
    """Everything that differs in the tests between two trees."""

    __test__ = False  # pytest: this is no test class

    added: list[Scenario] = field(default_factory=list)
    added_ids: list[str] = field(default_factory=list)
    removed: list[Scenario] = field(default_factory=list)
    lost: list[Lost] = field(default_factory=list)
    moved: list[tuple[Scenario, Scenario]] = field(default_factory=list)
    altered: list[Altered] = field(default_factory=list)
    reworded: list[tuple[Scenario, Scenario]] = field(default_factory=list)
    """Scenarios that got another docstring or more rows."""
    support: list[Support] = field(default_factory=list)
    kept: list[Scenario] = field(default_factory=list)
    """Scenarios of the changed files that are on both sides, altered or not."""

    def delta(self) -> VerificationDelta:
        """Return it as a value, ids sorted."""
        return VerificationDelta(
            scenarios_added=tuple(sorted(self.added_ids)),
            scenarios_removed=tuple(sorted(gone.id for gone in self.lost)),
            scenarios_changed=tuple(sorted(each.new.id for each in self.altered)),
            scenarios_skipped=tuple(sorted(each.new.id for each in self.altered if each.skipped.reason)),
            scenarios_weakened=tuple(sorted(each.new.id for each in self.altered if each.weakened)),
        )


def compare_tests(old: Mapping[str, str], new: Mapping[str, str], blobs: Blobs) -> TestsDiff:
    """Compare changed test files, given as path -> blob on either side."""
    content = dict(blobs(dict.fromkeys([*old.values(), *new.values()])))
    before = {path: _read(path, content[blob]) for path, blob in old.items()}
    after = {path: _read(path, content[blob]) for path, blob in new.items()}
    diff = TestsDiff()
    _compare_scenarios(before, after, diff)
    _compare_support(_of_tests(before), _of_tests(after), diff)
    for path in sorted(old.keys() & new.keys()):
        if path.endswith(".py") and is_test_path(path):
            _compare_names(path, content[old[path]], content[new[path]], diff)
    for path in sorted(old.keys() | new.keys()):
        if before.get(path) or after.get(path) or path not in old or not is_test_path(path):
            continue
        # Not a language we read: a test file that is gone is a lost test, anything else is support.
        if path not in new and is_named_test(path):
            diff.lost.append(Lost(path, path))
        else:
            diff.support.append(Support(path, ""))
    return diff


def _compare_names(path: str, was: bytes, now: bytes, diff: TestsDiff) -> None:
    """Note what unchanged tests of a file come to by another way."""
    altered = {each.new.id for each in diff.altered}
    same = [each.name for each in diff.kept if each.path == path and each.id not in altered]
    known = {(each.path, each.name) for each in diff.support}
    for name, line, how in shadows(was, now, same):
        if (path, name) not in known or how:
            diff.support.append(Support(path, name, line, how))


def _read(path: str, source: bytes) -> TestFile | None:
    if not path.endswith((".py", ".pyi")):
        return read_titles(path, source)
    return read_tests(path, source, collected=is_python_test(path))


def _scenarios(files: Mapping[str, TestFile | None]) -> dict[str, Scenario]:
    return {each.id: each for file in files.values() if file for each in file.scenarios.values()}


def _compare_scenarios(
    before: Mapping[str, TestFile | None], after: Mapping[str, TestFile | None], diff: TestsDiff
) -> None:
    old, new = _scenarios(before), _scenarios(after)
    pairs = [(old[name], new[name]) for name in old.keys() & new.keys()]
    gone = {name: old[name] for name in old.keys() - new.keys()}
    fresh = {name: new[name] for name in new.keys() - old.keys()}
    diff.kept = sorted((now for _, now in pairs), key=lambda each: each.id)
    diff.moved = sorted(_moved(gone, fresh), key=lambda pair: pair[0].id)
    for was, now in sorted([*pairs, *diff.moved], key=lambda pair: pair[1].id):
        _compare_pair(was, now, diff)
    diff.removed = [gone[name] for name in sorted(gone)]
    diff.lost.extend(Lost(each.id, each.path, each.line) for each in diff.removed)
    diff.added = [fresh[name] for name in sorted(fresh)]
    for each in diff.added:
        diff.added_ids.extend([each.row_id(row) for row, _ in each.cases if row] or [each.id])


def _moved(gone: dict[str, Scenario], fresh: dict[str, Scenario]) -> Iterator[tuple[Scenario, Scenario]]:
    """Take pairs out of both: the same name in another file first, then the same name and body in another class."""
    for same in (_same_name, _same_body):
        for name, was in sorted(gone.items()):
            candidates = [key for key, now in sorted(fresh.items()) if same(was, now)]
            if len(candidates) == 1:
                del gone[name]
                yield was, fresh.pop(candidates[0])


def _same_name(was: Scenario, now: Scenario) -> bool:
    return was.name == now.name


def _same_body(was: Scenario, now: Scenario) -> bool:
    return was.bare == now.bare and was.digest == now.digest and was.cases == now.cases


def _compare_pair(was: Scenario, now: Scenario, diff: TestsDiff) -> None:
    kept = {row for _, row in now.cases}
    names = {name for name, _ in now.cases}
    missing = [(name, row) for name, row in was.cases if row not in kept]
    diff.lost.extend(
        Lost(was.row_id(name or "row"), now.path, now.line, row=True)
        for name, _ in missing
        if name not in names or not name
    )
    known = {row for _, row in was.cases}
    diff.added_ids.extend(now.row_id(name) for name, row in now.cases if name and was.cases and row not in known)
    skipped = now.skipped if now.skipped.reason and not was.skipped.reason else NO_SKIP
    weakened = _weakened(was, now)
    rows_changed = any(name and name in names for name, _ in missing)
    if skipped.reason or weakened or was.digest != now.digest or rows_changed:
        emptied = bool(was.strength.asserts) and not now.strength.asserts
        diff.altered.append(Altered(was, now, skipped, weakened, emptied))
    elif was.wording != now.wording:
        diff.reworded.append((was, now))


def _weakened(was: Scenario, now: Scenario) -> str:
    how = [_fewer(was, now), weaker(was.strength.parts, now.strength.parts)]
    if now.strength.swallows > was.strength.swallows:
        how.append("it now swallows or accepts any Exception")
    return "; ".join(each for each in how if each)


def _fewer(was: Scenario, now: Scenario) -> str:
    lost = list(was.strength.asserts)
    for text in now.strength.asserts:
        if text in lost:
            lost.remove(text)
    if len(now.strength.asserts) < len(was.strength.asserts):
        return f"{len(was.strength.asserts)} assertions became {len(now.strength.asserts)}; gone: {'; '.join(lost)}"
    return ""


def _of_tests(files: Mapping[str, TestFile | None]) -> dict[str, TestFile | None]:
    """Leave out sources that hold their own tests: what is no test in them is no support either."""
    return {path: file for path, file in files.items() if is_test_path(path)}


def _compare_support(
    before: Mapping[str, TestFile | None], after: Mapping[str, TestFile | None], diff: TestsDiff
) -> None:
    for path, file in sorted(before.items()):
        now = after.get(path)
        if file and not now and file.support:
            diff.support.append(Support(path, ""))
        if not file or not now:
            continue
        for name, (digest, line, strength) in file.support.items():
            if name not in now.support:
                diff.support.append(Support(path, name, line))
                continue
            new_digest, new_line, new_strength = now.support[name]
            if new_digest != digest:
                fewer = len(new_strength.asserts) < len(strength.asserts)
                wider = new_strength.swallows > strength.swallows
                how = "it asserts less" if fewer else "it now swallows any Exception" if wider else ""
                how = how or weaker(strength.parts, new_strength.parts)
                diff.support.append(Support(path, name, new_line, how))
