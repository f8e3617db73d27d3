"""From a plan file to a run that can be carried: checked, written down once, with its sandbox and image known."""

import fcntl
import json
import os
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from controller.context import Context
from controller.plan.check import check_plan
from controller.plan.load import load_plan
from controller.plan.places import LoadedPlan
from controller.plan.waves import waves
from controller.store.database import Lost, NoRuns, no_runs
from controller.store.store import OVER, RunRecord, Store, now
from packets.agent import PatchAgent
from packets.errors import PlanInvalid, UsageError
from packets.events import AfterShape, PhaseShape, Shape, WaveShape
from packets.permissions import Tier
from packets.plan import Engine, Plan, Profile
from sandbox.choose import Choice, choose
from sandbox.effect import effect
from sandbox.git import Git
from sandbox.image import BuiltImage, ensure_image

Tell = Callable[[str], None]
ENGINES = ("auto", "docker", "bubblewrap", "host", "memory")


@dataclass(frozen=True)
class Options:
    """What the command line says beside the plan. `sandbox` and `profile` overrule it when given."""

    yes: bool = False
    new: bool = False
    max_workers: int | None = None
    sandbox: str | None = None
    profile: str | None = None

    def __post_init__(self) -> None:
        """Refuse a word that nothing is called by; raises UsageError."""
        for name, given, known in (("sandbox", self.sandbox, ENGINES), ("profile", self.profile, tuple(Profile))):
            if given is not None and given not in known:
                raise UsageError(f"--{name} {given!r} is unknown", f"one of: {', '.join(known)}")

    def overruled(self, settings: dict[str, Any]) -> list[str]:
        """Name what was asked for now and is not what the run began with, and so does not count."""
        asked = {"yes": self.yes or None, "max_workers": self.max_workers, "profile": self.profile}
        asked["engine"] = self.sandbox if self.sandbox != "auto" else None
        return [name for name, value in asked.items() if value is not None and value != settings[name]]

    @property
    def places(self) -> int:
        """How many workers may run at once: as asked, else one a core."""
        return self.max_workers or os.cpu_count() or 1


@dataclass(frozen=True)
class Submission:
    """A run to carry on; `how` is new, resumed, attached or done."""

    run: RunRecord
    how: str


def read_plan(git: Git, path: Path, tell: Tell) -> tuple[LoadedPlan, str, str]:
    """Load and check the plan; return it with the base commit and the ref to land on. Raises PlanInvalid."""
    from controller.graph import Knowledge

    loaded = load_plan(path)
    commit, ref = _base(git, loaded.plan)
    knowledge = Knowledge(git, git.roots.state / "cache" / "facts.db")
    problems = check_plan(loaded, git, commit, knowledge)
    errors = tuple(p for p in problems if p.severity == "error")
    if errors:
        raise PlanInvalid(errors)
    for warning in problems:
        tell(warning.text())
    return loaded, commit, ref


def _base(git: Git, plan: Plan) -> tuple[str, str]:
    """Return the commit to start from and the branch to land on."""
    if git.is_empty():
        raise UsageError("the repository has no commit yet", "commit something first: git add -A && git commit")
    branch = plan.base or git.head_branch()
    if branch is None:
        raise UsageError("HEAD is detached, so there is no branch to land on", "name one in the plan: `base: main`")
    commit = git.resolve(branch)
    if plan.land.branch:
        return commit, f"refs/heads/{plan.land.branch}"
    ref = f"refs/heads/{branch}"
    if ref not in git.refs(ref):
        raise UsageError(
            f"base {branch!r} is not a local branch, so nothing can land on it",
            "name a branch in `base:`, or a branch to make: `land: {branch: NAME}`",
        )
    return commit, ref


def submit(git: Git, plan_path: Path, options: Options, tell: Tell) -> Submission:
    """Write a new run down, or find the one that this plan has already."""
    _refuse_bytes(git)
    loaded, commit, ref = read_plan(git, plan_path, tell)
    if not options.new and (known := _known(git, loaded, ref)):
        return known
    _tell_of_lost(git, tell)
    choice = choose(_engine(loaded.plan, options), strict=_strict(loaded.plan))
    tell(f"sandbox: {choice.why}")
    for gap in choice.sandbox.gaps:
        tell(f"sandbox: {choice.sandbox.name} cannot enforce {gap}")
    image = ensure_image(loaded.plan.image, choice.sandbox, plan_path.resolve().parent, progress=tell)
    git.roots.state.mkdir(parents=True, exist_ok=True)
    git.exclude("/.grace/")
    with _submitting(git.roots.state):
        if not options.new and (known := _known(git, loaded, ref)):
            return known
        run = _record(loaded, (commit, ref), options, choice, image)
        _keep_patches(loaded, git.roots.run(run.run_id) / "agents")
        store = Store(git.roots.database, create=True)
        store.create_run(run)
        store.close()
        return Submission(run, "new")


def _refuse_bytes(git: Git) -> None:
    """Refuse a repository whose path the engine's journal cannot name; raises UsageError."""
    if str(git.roots.state).encode("utf-8", "replace").decode() != str(git.roots.state):
        said = str(git.main).encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
        raise UsageError(f"the path of the repository is no UTF-8 text: {said}", "rename the folder, then repeat it")


def _engine(plan: Plan, options: Options) -> str:
    """Return the engine: the command line's word before the plan's, but no isolation only where the plan says so."""
    if options.sandbox == Engine.HOST and plan.sandbox is not Engine.HOST:
        raise UsageError(
            "the plan does not say `sandbox: host`, so nothing of it runs without isolation",
            "write `sandbox: host` into the plan, if that is what you mean",
        )
    return options.sandbox or plan.sandbox


def _strict(plan: Plan) -> bool:
    return any(plan.limits_of(module).strict for module in plan.modules())


def _known(git: Git, loaded: LoadedPlan, ref: str) -> Submission | None:
    """Find this very plan's run: live, standing still, or done and still on the branch."""
    from controller.lock import holder

    try:
        store = Store(git.roots.database)
    except NoRuns:
        return None
    try:
        for run in store.runs():
            if run.plan_digest != loaded.digest or run.base_ref != ref:
                continue
            if run.state not in OVER:
                live = holder(git.roots.run(run.run_id))
                return Submission(run, "attached" if live else "resumed")
            if run.state == "done" and _still_landed(git, store, run):
                return Submission(run, "done")
            return None
    finally:
        store.close()
    return None


def _tell_of_lost(git: Git, tell: Tell) -> None:
    """Say that this run begins anew because what was remembered of earlier ones is gone."""
    path = git.roots.database
    if not path.exists() or not path.stat().st_size:
        why = no_runs(path)
        if isinstance(why, Lost):
            tell(f"{why.message}; this run begins anew ({why.hint})")


def _still_landed(git: Git, store: Store, run: RunRecord) -> bool:
    held = git.refs(run.base_ref).get(run.base_ref)
    rows = [m for m in store.modules(run.run_id) if m["state"] == "done"]
    return held is not None and all(not m["reverted"] and git.is_ancestor(m["commit_id"], held) for m in rows)


@contextmanager
def _submitting(state: Path) -> Iterator[None]:
    """Let one submission at a time look for a known run and write a new one."""
    with (state / "submit.lock").open("w", encoding="utf-8") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _record(
    loaded: LoadedPlan, start: tuple[str, str], options: Options, engine: Choice, image: BuiltImage
) -> RunRecord:  # fmt: skip
    plan = loaded.plan
    settings = {
        "engine": engine.sandbox.name,
        "why": engine.why,
        "image": image.ref,
        "image_digest": image.digest,
        "max_workers": options.places,
        "yes": options.yes,
        "profile": options.profile or str(plan.defaults.profile),
    }
    return RunRecord(
        run_id=f"{datetime.now(UTC):%y%m%d-%H%M%S}-{secrets.token_hex(2)}",
        name=plan.name,
        created_at=now(),
        plan_path=str(loaded.path),
        plan_digest=loaded.digest,
        plan=plan.model_dump_json(by_alias=True, exclude_defaults=False),
        plan_text=loaded.text,
        base_ref=start[1],
        base_commit=start[0],
        options=json.dumps(settings),
        state="running",
        exit=None,
        note="",
    )


def _keep_patches(loaded: LoadedPlan, folder: Path) -> None:
    """Copy the patches: what an agent is does not change while a run lives."""
    for name, agent in loaded.plan.agents.items():
        if isinstance(agent, PatchAgent):
            with effect("patch.keep"):
                folder.mkdir(parents=True, exist_ok=True)
                with (folder / f"{name}.patch").open("wb") as kept:
                    kept.write((loaded.path.resolve().parent / agent.patch).read_bytes())
                    kept.flush()
                    os.fsync(kept.fileno())  # the run's row, which follows, is on the disk when it is believed


def shape(run: RunRecord) -> Shape:
    """Return what the kernel needs to know of the run's plan."""
    plan, settings = run.parsed_plan, run.settings
    computed = waves(plan)
    phases = tuple(
        PhaseShape(
            id=phase.id,
            waves=tuple(WaveShape(number=w.number, modules=tuple(w.modules)) for w in computed if w.phase == phase.id),
            after=_after(plan, phase.id),
        )
        for phase in plan.phases
    )
    return Shape(
        phases=phases,
        depends_on={m.id: tuple(d for d in m.depends_on if d not in plan.modules_map) for m in plan.modules()},
        optional=tuple(m.id for m in plan.modules() if m.optional),
        attempts={m.id: plan.limits_of(m).attempts for m in plan.modules()},
        profile=settings["profile"],
        asks=tuple(m.id for m in plan.modules() if plan.permissions_of(m).write is Tier.ASK),
        land=str(plan.permissions.land),
        yes=settings["yes"],
        max_workers=settings["max_workers"],
    )


def _after(plan: Plan, phase: str) -> tuple[AfterShape, ...]:
    """Return what is asked about when the phase has landed: the push, then the hooks in order."""
    pushes = [AfterShape(subject=f"push:{phase}", kind="push", what=plan.push)] if plan.push else []
    hooks = (AfterShape(subject=f"hook:{phase}:{n}", kind="hook", what=w) for n, w in enumerate(plan.on_landed, 1))
    return (*pushes, *hooks)


def open_context(git: Git, store: Store, run: RunRecord) -> Context:
    """Return the run's tools: the sandbox it began with, or MachineLacks; never another one silently."""
    _refuse_bytes(git)
    choice = choose(run.settings["engine"], strict=_strict(run.parsed_plan))
    return Context(git=git, store=store, run=run, sandbox=choice.sandbox, image=run.settings["image"])
