"""What change of the plan would settle a drift: as patches against the user's plan file, each of them checked."""

import difflib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from controller.context import Context
from controller.graph.drift import named
from controller.graph.model import Graph
from controller.graph.territory import Territory
from controller.plan.check import word_problems
from controller.plan.check_repo import repository_problems
from controller.refreshing.draft import Draft, Unfit, patch
from controller.refreshing.look import plan_path
from packets.errors import PlanInvalid, UsageError
from packets.refresh import Drift, DriftKind
from packets.scope import escape, parse_entry

_MOST, _FEWEST, _WORK = 100, 8, 2_000_000
"""Patches of one refresh; fewer for a long plan, which is read for each: so many of its characters in all."""

_ALIKE = 0.7
"""How much a scenario's name must look like the missing one, as difflib's ratio."""

_FAULTS = (Unfit, ValueError, KeyError, IndexError, UsageError, PlanInvalid)


@dataclass
class Suggestions:
    """Suggestions for one tree. `scenarios` are the ids of its tests, `moved` says where a file went that is gone."""

    ctx: Context
    graph: Graph
    scenarios: Iterable[str] = ()
    moved: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.territory = Territory(self.ctx.plan)
        self.name = plan_path(self.ctx) or Path(self.ctx.run.plan_path).name
        self.path = self.ctx.git.main / (plan_path(self.ctx) or self.ctx.run.plan_path)
        self.original = self._users()
        self._most = max(_FEWEST, min(_MOST, _WORK // len(self.original)))
        self._known = self._errors(Draft(self.original))

    def each(self, found: Sequence[Drift]) -> tuple[Drift, ...]:
        """Return the drifts with their patches; where the plan cannot help, `todo` says so."""
        return tuple(self._with_patch(drift) if n < self._most else drift for n, drift in enumerate(found))

    def together(self, found: Sequence[Drift]) -> str:
        """Return one patch of all that can be settled at once; empty when nothing can."""
        draft = Draft(self.original)
        for drift in found[: self._most]:
            if drift.patch:
                draft = self._tried(draft.bytes(), drift) or draft
        return patch(self.name, self.original, draft.bytes())

    def _with_patch(self, drift: Drift) -> Drift:
        if self._way(drift) is None:
            return drift
        try:
            made = self._made(self.original, drift)
        except _FAULTS as fault:
            return drift.model_copy(
                update={"todo": f"{drift.todo} (no change of the plan is suggested: {_said(fault)})"}
            )
        return drift.model_copy(update={"patch": patch(self.name, self.original, made.bytes())})

    def _tried(self, data: bytes, drift: Drift) -> Draft | None:
        try:
            return self._made(data, drift)
        except _FAULTS:
            return None

    def _made(self, data: bytes, drift: Drift) -> Draft:
        """Return the plan with the change; raises one of `_FAULTS` where that is none that passes `plan check`."""
        draft, way = Draft(data), self._way(drift)
        if way is None:
            raise Unfit("there is none")
        way(draft, drift)
        if new := self._errors(draft) - self._known:
            raise Unfit(min(new))
        return draft

    def _errors(self, draft: Draft) -> set[str]:
        """Return what refuses the plan, of what a change of modules, scopes and dependencies can bring about."""
        loaded = draft.loaded(self.path)
        problems = [*word_problems(loaded.plan, loaded.positions), *repository_problems(loaded, self.ctx.git, None)]
        return {problem.message for problem in problems if problem.severity == "error"}

    def _users(self) -> bytes:
        """Return the plan as it is on disk, or as the run took it where that is gone or no plan any more."""
        try:
            data = self.path.read_bytes()
            Draft(data).loaded(self.path)
        except (OSError, *_FAULTS):
            return self.ctx.run.plan_text
        return data

    # --- the ways

    def _way(self, drift: Drift) -> Callable[[Draft, Drift], None] | None:
        """Return how the plan is changed for it; None where the code has to change."""
        return {
            DriftKind.ORPHAN_MODULE: self._gone,
            DriftKind.STALE_EDGE: self._without_edge if drift.note else None,
            DriftKind.MISSING_SCENARIO: self._renamed,
            DriftKind.MISSING_MARKER: None,
            DriftKind.UNPLANNED_FILE: self._planned,
            DriftKind.UNPLANNED_EDGE: self._with_edge,
        }[drift.kind]

    def _gone(self, draft: Draft, drift: Drift) -> None:
        """Follow the files of the module where they went, or take it out with all that names it."""
        name = drift.module
        mapped = name in draft.data.get("modules_map", {})
        loc = ("modules_map", name) if mapped else (*draft.module(name), "write_scope")
        if any(entry in self.moved for entry in draft.at(loc)):
            for n, entry in enumerate(draft.at(loc)):
                if entry in self.moved:
                    draft.put((*loc, n), escape(self.moved[entry]))
            return
        for module in [m["id"] for phase in draft.data["phases"] for m in phase["modules"]]:
            if name in draft.at(draft.module(module)).get("depends_on", ()):
                draft.take(draft.module(module), "depends_on", name)
        if mapped:
            draft.drop(("modules_map",), name)
            return
        *modules, index = draft.module(name)
        if len(draft.at(tuple(modules))) > 1:
            draft.drop_item(tuple(modules), int(index))
        elif len(draft.data["phases"]) > 1:
            draft.drop_item(("phases",), int(modules[1]))
        else:
            raise Unfit(f"{name} is the only module of the plan")

    def _without_edge(self, draft: Draft, drift: Drift) -> None:
        draft.take(draft.module(drift.module), "depends_on", drift.subject)

    def _with_edge(self, draft: Draft, drift: Drift) -> None:
        draft.append(draft.module(drift.module), "depends_on", drift.subject, after="purpose")

    def _renamed(self, draft: Draft, drift: Drift) -> None:
        """Expect the scenario under the name that it seems to have now."""
        name = self._alike(drift)
        if not name:
            raise Unfit("no test has a name like that: a test has to be written")
        loc = (*draft.module(drift.module), "expected_deltas", "verification")
        for index, line in enumerate(draft.at(loc)):
            if line.split()[1:] == ["scenario", drift.subject] and not line.startswith("remove"):
                draft.put((*loc, index), line.replace(drift.subject, name))
                return
        raise Unfit("the plan does not expect it any more")

    def _alike(self, drift: Drift) -> str:
        scope = self.territory.planned[drift.module]
        ours = [each for each in self.scenarios if scope.matches(each.partition("::")[0])]
        bare = {each.rpartition("::")[2].partition("[")[0].removeprefix("test_") for each in ours}
        return next(iter(difflib.get_close_matches(drift.subject.removeprefix("test_"), sorted(bare), 1, _ALIKE)), "")

    def _planned(self, draft: Draft, drift: Drift) -> None:
        """Let the module write the file that lies nearest to it."""
        module = self._nearest(drift.path)
        if not module:
            raise Unfit("no module lies near it")
        draft.append(draft.module(module), "write_scope", escape(drift.path))

    def _nearest(self, path: str) -> str:
        """Return the module nearest to a file: files in the same folder, then use of the one by the other."""
        ends = [target for _, target in named(self.graph, path)]
        ends += [
            self.graph.path_of(edge.source)
            for node in self.graph.by_path.get(path, ())
            for edge in self.graph.incoming.get(node.id, ())
        ]
        used = {owner for end in ends for owner in self.territory.owners(end)}
        scores = {name: (self._common(name, path), name in used) for name in self.territory.planned}
        best = max(scores, key=lambda name: scores[name], default="")
        return best if best and any(scores[best]) else ""

    def _common(self, module: str, path: str) -> int:
        """Count the folders that a path shares with an entry of the module's scope."""
        folders = path.split("/")[:-1]
        fixed = [parse_entry(entry).fixed for entry in self.territory.planned[module].entries]
        return max((len(list(_same(folders, parts))) for parts in fixed), default=0)


def _same(one: Sequence[str], other: Sequence[str]) -> Iterator[str]:
    for a, b in zip(one, other, strict=False):
        if a != b:
            return
        yield a


def _said(fault: Exception) -> str:
    return " ".join(str(fault).split())[:200] or type(fault).__name__
