"""What several gates look at, found out once: changes, blobs, the graph report, tests, checks."""

from collections.abc import Iterator
from functools import cached_property

from packets.deltas import GraphDelta, VerificationDelta, VerificationExpectation, parse_verification
from packets.graph import GraphReport
from packets.proof import Proof
from packets.report import WorkerReport
from packets.scope import Scope
from packets.verdict import CheckResult
from reviewer.case import Case
from reviewer.compare import TestsDiff, compare_tests
from reviewer.inert import inert
from reviewer.markers import Output, emits, read_output
from reviewer.paths import is_prose, is_test_path, may_hold_tests
from sandbox.git import Change, Entry

LINK, GITLINK, ABSENT = "120000", "160000", "000000"
FILE_MODES = ("100644", "100755")

_MOST_SOURCE = 2 << 20


class Evidence:
    """Facts of one case, each computed when first asked for. Raises whatever the source of the fact raises."""

    def __init__(self, case: Case) -> None:
        self._case = case

    @cached_property
    def changes(self) -> tuple[Change, ...]:
        """The tree without the module's work against the result tree: what a commit or a status says plays no part."""
        return self._case.git.changes(self._case.before, self._case.outcome.head_tree)

    @cached_property
    def head(self) -> dict[str, Entry]:
        """Every file of the result."""
        return self._case.git.entries(self._case.outcome.head_tree)

    @cached_property
    def scope(self) -> Scope:
        """What the module may write."""
        return Scope.parse(self._case.packet.write_scope)

    @cached_property
    def report(self) -> WorkerReport:
        """What the worker says; no report claims nothing."""
        return self._case.outcome.report or WorkerReport()

    @cached_property
    def expected(self) -> tuple[VerificationExpectation, ...]:
        """The plan's verification deltas, read."""
        return tuple(parse_verification(line) for line in self._case.packet.expected_deltas.verification)

    @cached_property
    def graph(self) -> GraphReport:
        """Expected, claimed and actual."""
        return self._case.compare(self.report.graph_delta if self._case.outcome.report else GraphDelta())

    @cached_property
    def tests(self) -> TestsDiff:
        """Scenarios of the changed test files, before and after."""
        return compare_tests(
            {c.path: c.old_blob for c in self.changes if c.old_mode in FILE_MODES and may_hold_tests(c.path)},
            {c.path: c.new_blob for c in self.changes if c.new_mode in FILE_MODES and may_hold_tests(c.path)},
            self._case.git.blobs,
        )

    @cached_property
    def proofs(self) -> tuple[Proof, ...]:
        """Try the new scenarios on the sources of the base; nothing runs where nothing is new."""
        from reviewer.proofs import prove

        return prove(self._case, self)

    @cached_property
    def commands(self) -> tuple[str, ...]:
        """The module's checks and those that the plan adds, without those that it removes, each once."""
        added = [e.name for e in self.expected if e.kind == "check" and e.verb == "add"]
        removed = {e.name for e in self.expected if e.kind == "check" and e.verb == "remove"}
        wanted = (*self._case.packet.verification_excerpt.module_local_checks, *added)
        return tuple(dict.fromkeys(command for command in wanted if command not in removed))

    @cached_property
    def checks(self) -> tuple[CheckResult, ...]:
        """Run the checks on the result tree."""
        return self._case.check(self._case.outcome.head_tree, self.commands) if self.commands else ()

    @cached_property
    def output(self) -> Output:
        """What the checks wrote, the log records of their tests included."""
        return read_output(self.checks)

    @property
    def checks_ran(self) -> bool:
        """True once the checks were run for this case."""
        return "checks" in self.__dict__

    def contents(self, side: str) -> Iterator[tuple[Change, bytes]]:
        """Give the changed regular files and links with their content on one side, `old` or `new`."""
        held: dict[str, list[Change]] = {}
        for change in self.changes:
            mode, blob = (change.new_mode, change.new_blob) if side == "new" else (change.old_mode, change.old_blob)
            if mode in (*FILE_MODES, LINK):
                held.setdefault(blob, []).append(change)
        for blob, data in self._case.git.blobs(held):
            for change in held[blob]:
                yield change, data

    def emitted_at(self, marker: str) -> tuple[str, int] | None:
        """Return the path and line outside the tests where the result can emit the marker, or None."""
        changed = [c.path for c in self.changes if c.new_mode in FILE_MODES]
        return self._emitted(self.head, marker, changed)

    def emitted_before_at(self, marker: str) -> tuple[str, int] | None:
        """Return the path and line outside the tests where the base could emit the marker already, or None."""
        return self._emitted(self._case.git.entries(self._case.before), marker, [])

    def _emitted(self, tree: dict[str, Entry], marker: str, first: list[str]) -> tuple[str, int] | None:
        """Search the changed files before the rest: that is where a marker most often is."""
        for paths in (first, tree):
            held: dict[str, str] = {}
            for path in paths:
                if tree[path].mode in FILE_MODES and not is_test_path(path) and not is_prose(path):
                    held.setdefault(tree[path].blob, path)
            for blob, data in self._case.git.blobs(held):
                if len(data) <= _MOST_SOURCE and (line := emits(held[blob], data, marker)):
                    return held[blob], line
        return None

    def markers_of(self, side: str) -> frozenset[str]:
        """Return the markers that anybody named and that changed sources can emit on one side, `old` or `new`."""
        wanted = self._case.packet.verification_excerpt
        claimed = self.report.verification_delta
        named = {e.name for e in self.expected if e.kind == "marker"} | {*wanted.required_markers}
        named |= {*wanted.forbidden_markers, *claimed.markers_added, *claimed.markers_removed}
        sources = (
            (change.path, data)
            for change, data in (self.contents(side) if named else ())
            if not is_test_path(change.path) and not is_prose(change.path) and len(data) <= _MOST_SOURCE
        )
        return frozenset(marker for path, data in sources for marker in named if emits(path, data, marker))

    def text(self, blob: str) -> str:
        """Return a blob as a link's target or a path would be read."""
        return self._case.git.blob(blob).decode("utf-8", "surrogateescape")

    def known_graph(self) -> GraphReport:
        """Return the report if a gate asked for it, else an empty one."""
        return self.graph if "graph" in self.__dict__ else GraphReport()

    def known_checks(self) -> tuple[CheckResult, ...]:
        """Return the results if the checks ran."""
        return self.checks if self.checks_ran else ()

    def known_proofs(self) -> tuple[Proof, ...]:
        """Return the proofs if they were tried."""
        return self.proofs if "proofs" in self.__dict__ else ()

    def known_verification(self) -> VerificationDelta:
        """Return the actual delta as far as gates found it out."""
        if "tests" not in self.__dict__:
            return VerificationDelta()
        local = self._case.packet.verification_excerpt.module_local_checks
        before, after = self.markers_of("old"), self.markers_of("new")
        return self.tests.delta().model_copy(
            update={
                "markers_added": tuple(map(inert, sorted(after - before))),
                "markers_removed": tuple(map(inert, sorted(before - after))),
                "checks_added": tuple(c for c in self.commands if c not in local),
                "checks_removed": tuple(c for c in local if c not in self.commands),
            }
        )
