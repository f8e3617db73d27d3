"""grace run, grace resume."""

import json
import sys
import time
from dataclasses import replace
from pathlib import Path

from controller.begin import Options, Submission, read_plan, submit
from controller.carry import carry
from controller.cli.opened import opened
from controller.kernel import RunState, decide
from controller.lock import Held, holder
from controller.screen import Screen, screen
from controller.standing import WAITING
from controller.store.store import OVER, RunRecord, Store
from packets.errors import GraceError
from packets.plan import Plan, Profile
from sandbox.git import Git

FOLLOW = 0.2  # seconds between two looks at a run that another process carries


def run(plan: Path, options: Options, *, as_json: bool) -> int:
    """Submit a plan and carry it, or attach to the run of it that lives."""
    with Git.discover(Path.cwd()) as git, screen(as_json=as_json) as shown:
        made = submit(git, plan, options, shown.tell)
        if made.how != "new" and (ignored := options.overruled(made.run.settings)):
            names = ", ".join(f"--{name.replace('engine', 'sandbox').replace('_', '-')}" for name in ignored)
            shown.tell(f"{names}: not taken over, run {made.run.run_id} keeps what it began with")
        store = Store(git.roots.database)
        try:
            return _go(git, store, made, shown)
        finally:
            store.close()


def resume(wanted: str | None, *, as_json: bool) -> int:
    """Carry a run on; one that is over is left as it is."""
    with opened(wanted) as (git, store, record), screen(as_json=as_json) as shown:
        how = "done" if record.state in OVER else "resumed"
        return _go(git, store, Submission(record, how), shown)


def _go(git: Git, store: Store, made: Submission, shown: Screen) -> int:
    record = made.run
    if made.how == "done":
        shown.tell(f"run {record.run_id} of this plan is over: {record.state}; `--new` runs it again")
        return shown.finished(record.run_id, record.state, record.exit or 0, record.note)
    if made.how == "resumed":
        shown.tell(f"run {record.run_id} goes on")
    if made.how != "attached":
        try:
            shown.begin(record, store)
            state, code = carry(git, store, record, shown)
            return shown.finished(record.run_id, state, code, store.run(record.run_id).note)
        except Held:
            pass  # another process took it in the same moment: attach
        except GraceError as fault:
            shown.finished(record.run_id, "stopped", fault.exit_code, fault.message)
            raise
    shown.tell(f"run {record.run_id} of this plan is live ({holder(git.roots.run(record.run_id))}); attached to it")
    return attach(git, store, record, shown)


def attach(git: Git, store: Store, record: RunRecord, shown: Screen) -> int:
    """Show a run that another process carries, until it stands still."""
    shown.begin(record, store)
    state: RunState | None = None
    seen = 0
    while True:
        live = holder(git.roots.run(record.run_id)) is not None
        for recorded in store.events(record.run_id, seen):
            seen = recorded.seq
            state = decide(state, recorded.event).state
            shown.event(recorded.event, state)
        if not live:
            now = store.run(record.run_id)
            if now.exit is not None:
                return shown.finished(now.run_id, now.state, now.exit, now.note)
            note = f"its controller is gone; continue: grace resume {now.run_id}"
            return shown.finished(now.run_id, "stopped", WAITING, note)
        time.sleep(FOLLOW)


def dry_run(plan: Path, options: Options) -> int:
    """Print the first wave's packets, the waves and the questions to come; create nothing in the repository."""
    from controller.compose import to_yaml
    from controller.plan.outline import outline
    from controller.plan.show import text
    from controller.preview import first_packets

    with Git.discover(Path.cwd()) as git:
        loaded, commit, _ = read_plan(git, plan, lambda text: print(text, file=sys.stderr))  # noqa: T201
        shown = outline(replace(loaded, plan=_as_run(loaded.plan, options)))
        sys.stdout.write(text(shown | {"sandbox": options.sandbox or shown["sandbox"]}))
        for packet in first_packets(git, loaded, commit):
            sys.stdout.write("---\n" + to_yaml(packet))
        limits = {m.id: loaded.plan.limits_of(m).model_dump() for m in loaded.plan.modules()}
        sys.stdout.write("---\n# limits\n" + json.dumps(limits, indent=2) + "\n")
    return 0


def _as_run(plan: Plan, options: Options) -> Plan:
    """Return the plan with the profile that the command line puts over it."""
    if options.profile is None:
        return plan
    defaults = plan.defaults.model_copy(update={"profile": Profile(options.profile)})
    return plan.model_copy(update={"defaults": defaults})
