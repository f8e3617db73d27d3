"""grace run, grace resume; here or, with --detach, in the background."""

import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

from controller.begin import Options, Submission, open_context, read_plan, submit
from controller.carry import carry
from controller.cli.opened import opened
from controller.cli.watch import attach
from controller.lock import Held, holder
from controller.screen import Screen, screen
from controller.store.store import OVER, Store
from controller.supervise import detach, log_of
from controller.voice import say
from packets.errors import GraceError
from packets.packet import ExecutionPacket
from packets.plan import Plan, Profile
from sandbox.choose import close
from sandbox.git import Git


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


def detached(plan: Path, options: Options, *, as_json: bool) -> int:
    """Submit a plan and have it carried in the background; prints the run's id."""
    with Git.discover(Path.cwd()) as git:
        made = submit(git, plan, options, _aside)
        return _send_off(git, made, as_json=as_json)


def resume_detached(wanted: str | None, *, as_json: bool) -> int:
    """Have a run carried on in the background; the machine is looked at first."""
    with opened(wanted) as (git, store, record):
        how = "done" if record.state in OVER else "resumed"
        if how == "resumed":
            close(open_context(git, store, record).sandbox)
        return _send_off(git, Submission(record, how), as_json=as_json)


def _send_off(git: Git, made: Submission, *, as_json: bool) -> int:
    """Start the supervisor, unless the run is over; only the id goes to stdout, so that a script can take it."""
    run_id, over = made.run.run_id, made.how == "done"
    pid = None if over else detach(git.roots, run_id)
    if as_json:
        said = {"run_id": run_id, "how": made.how, "supervisor": pid, "log": str(log_of(git.roots.run(run_id)))}
        say(json.dumps(said, ensure_ascii=False) + "\n")
    else:
        state = f"is over: {made.run.state}" if over else f"goes on in the background; watch it: grace watch {run_id}"
        _aside(f"run {run_id} {state}")
        say(f"{run_id}\n")
    return (made.run.exit or 0) if over else 0


def _aside(text: str) -> None:
    say(f"grace: {text}\n", error=True)


def dry_run(plan: Path, options: Options, *, as_json: bool = False) -> int:
    """Print the first wave's packets, the waves and the questions to come; create nothing in the repository."""
    from controller.plan.outline import outline
    from controller.preview import first_packets

    with Git.discover(Path.cwd()) as git:
        loaded, commit, _ = read_plan(git, plan, _aside)
        shown = outline(replace(loaded, plan=_as_run(loaded.plan, options)))
        shown |= {"sandbox": options.sandbox or shown["sandbox"]}
        packets = first_packets(git, loaded, commit)
        limits = {m.id: loaded.plan.limits_of(m).model_dump(mode="json") for m in loaded.plan.modules()}
    sys.stdout.write(_rehearsed_json(shown, packets, limits) if as_json else _rehearsed(shown, packets, limits))
    return 0


def _rehearsed(shown: dict[str, Any], packets: list[ExecutionPacket], limits: dict[str, Any]) -> str:
    from controller.compose import to_yaml
    from controller.plan.show import text

    parts = [text(shown), *map(to_yaml, packets), "# limits\n" + json.dumps(limits, indent=2) + "\n"]
    return "---\n".join(parts)


def _rehearsed_json(shown: dict[str, Any], packets: list[ExecutionPacket], limits: dict[str, Any]) -> str:
    bodies = [packet.model_dump(mode="json") for packet in packets]
    return json.dumps({"plan": shown, "packets": bodies, "limits": limits}, ensure_ascii=False) + "\n"


def _as_run(plan: Plan, options: Options) -> Plan:
    """Return the plan with the profile that the command line puts over it."""
    if options.profile is None:
        return plan
    defaults = plan.defaults.model_copy(update={"profile": Profile(options.profile)})
    return plan.model_copy(update={"defaults": defaults})
