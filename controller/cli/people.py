"""grace approve, reject, pause, cancel: what people say. It is a stored row first; the controller takes it in once."""

import sys
import time
from contextlib import suppress
from pathlib import Path
from sqlite3 import Row

from controller.carry import carry
from controller.cli.opened import opened
from controller.kernel.module import ASKS_AGAIN
from controller.lock import SUPERVISOR, Held, lease
from controller.questions import first_answer
from controller.screen import screen
from controller.standing import actor, lapse, whole
from controller.stopping import stop
from controller.store.store import OVER, RunRecord, Store
from packets.errors import UsageError, WaitingForPerson
from packets.events import Event, EventType
from sandbox.git import Git

_LOOK = 0.1  # seconds between two looks whether a cancelled run is over
_ANSWERS = frozenset({EventType.GRANTED, EventType.REJECTED})


def approve(wanted: str | None, subject: str | None) -> None:
    """Grant one open question."""
    with opened(wanted) as (git, store, run):
        _refuse_a_guess(store, wanted)
        question, module = _question(git, store, run, subject)
        if module and (others := [other for other in _modules(question) if other != module]):
            what = f"{question['subject']} asks about {', '.join(_modules(question))} together"
            more = f"; grace reject {run.run_id} {others[0]} --reason TEXT sends one of them back"
            raise UsageError(what, f"all of them: grace approve {run.run_id} {question['subject']}{more}")
        if subject is None and question["subject"].partition(":")[0] in {"push", "hook"}:
            what = f"{question['subject']} is asked, and cannot be undone: a yes to it names it"
            raise UsageError(what, f"grace approve {run.run_id} {question['subject']}")
        data = {"subject": question["subject"], "key": question["key"]}
        _answer(store, run, Event(type=EventType.GRANTED, actor=actor(), data=data))
        _say(git, run, f"approved {question['subject']}")


def reject(wanted: str | None, subject: str | None, reason: str, *, final: bool) -> None:
    """Refuse one open question, or one module of it."""
    with opened(wanted) as (git, store, run):
        _refuse_a_guess(store, wanted)
        question, module = _question(git, store, run, subject)
        modules = [module] if module else _modules(question)
        if not (reason or final) and _tried_again(store, run, modules):
            what = "a fresh attempt follows, and it would not know why"
            raise UsageError(what, "--reason TEXT is what it is told; --final ends the module instead")
        data = {
            "subject": question["subject"], "key": question["key"], "module": module,
            "modules": modules, "reason": whole(reason), "final": final,
        }  # fmt: skip
        _answer(store, run, Event(type=EventType.REJECTED, actor=actor(), data=data))
        _say(git, run, f"rejected {module or question['subject']}")


def _answer(store: Store, run: RunRecord, answer: Event) -> None:
    """Leave the answer; raises UsageError where another one came a moment before, for only the first counts."""
    row = store.post(run.run_id, answer)
    if first_answer(store.db, run.run_id, answer.data["subject"], answer.data["key"]) != row:
        raise UsageError(f"{answer.data['subject']} was answered a moment before", f"see: grace events {run.run_id}")


def _refuse_a_guess(store: Store, wanted: str | None) -> None:
    """Refuse an answer without a run where several ask: it belongs to one of them."""
    asking = [run.run_id for run in store.runs() if store.approvals(run.run_id)]
    if wanted is None and len(asking) > 1:
        raise UsageError(f"{len(asking)} runs ask: {', '.join(asking)}", "name the run that is meant")


def _tried_again(store: Store, run: RunRecord, modules: list[str]) -> bool:
    """Say whether a no leads to fresh attempts; at a landing, and at what is stuck, it ends what was asked about."""
    waits = {row["module"]: row["waits_for"] for row in store.modules(run.run_id)}
    return any(waits[module] not in ASKS_AGAIN for module in modules)


def _modules(question: Row) -> list[str]:
    import json

    loaded: list[str] = json.loads(question["modules"])
    return loaded


def _question(git: Git, store: Store, run: RunRecord, wanted: str | None) -> tuple[Row, str]:
    """Return the open question that is meant, and the module when one was named; a lapsed one executes nothing.

    `SUBJECT@KEY` means the question with this key only: what was looked at, and nothing that came since.
    """
    wanted, _, key = wanted.partition("@") if wanted else (None, "", "")
    if due := lapse(git.roots.run(run.run_id), store, run.run_id):
        said = f"the time to answer {', '.join(due)} is over"
        raise WaitingForPerson(said, f"it asks again: grace resume {run.run_id}")
    answered = {(e.data["subject"], e.data["key"]) for _, e in store.unread(run.run_id) if e.type in _ANSWERS}
    found = [q for q in store.approvals(run.run_id) if (q["subject"], q["key"]) not in answered]
    if answered and not found:
        names = ", ".join(subject for subject, _ in answered)
        raise UsageError(f"{names} is answered already; the answer waits to be taken in", _again(run))
    if not found:
        raise UsageError(f"run {run.run_id} asks nothing now", f"see: grace status {run.run_id}")
    fits = [q for q in found if wanted in {None, q["subject"]}]
    fits = fits or [q for q in found if wanted in _modules(q) or q["subject"].partition(":")[2] == wanted]
    if len(fits) != 1:
        what = "which one" if wanted is None else f"{wanted!r} is not asked"
        raise UsageError(f"{what}: the run asks {', '.join(q['subject'] for q in found)}", "name one of them")
    if not str(fits[0]["key"]).startswith(key):
        what = f"{fits[0]['subject']} asks about something else by now: its key is {fits[0]['key'][:8]}, not {key}"
        raise UsageError(what, f"look again: grace review {run.run_id}")
    return fits[0], wanted if wanted and wanted in _modules(fits[0]) else ""


def _again(run: RunRecord) -> str:
    return f"go on: grace resume {run.run_id}"


def _say(git: Git, run: RunRecord, text: str) -> None:
    folder = git.roots.run(run.run_id)
    live = lease(folder) or lease(folder, SUPERVISOR)
    then = "" if live else f"; it counts when the run goes on: grace resume {run.run_id}"
    sys.stdout.write(f"{text}{then}\n")


def pause(wanted: str | None) -> None:
    """Stop a live run; its workers are stopped, nothing counts as an attempt."""
    with opened(wanted) as (git, store, run):
        _refuse_over(run)
        if _paused(git, store, run):
            sys.stdout.write(f"pausing {run.run_id}; go on with: grace resume {run.run_id}\n")
        else:
            state = "stopped" if run.state == "running" else run.state
            sys.stdout.write(f"run {run.run_id} stands still already: {state}\n")


def _paused(git: Git, store: Store, run: RunRecord) -> bool:
    """Have the run paused; False where it stands still already."""
    folder, event = git.roots.run(run.run_id), Event(type=EventType.PAUSED, actor=actor())
    if lease(folder) is None and not _held_still(folder, store, run, event):
        return False
    if lease(folder) is not None:
        stop(folder, store, run.run_id, event)
    return True


def _held_still(folder: Path, store: Store, run: RunRecord, event: Event) -> bool:
    """Pause a run in the background between two controllers; False for one that does not go on by itself."""
    from controller.supervise import hold_still

    if lease(folder, SUPERVISOR) is None or run.state not in {"running", "waiting"}:
        return False
    with suppress(Held):
        hold_still(folder, store, run.run_id, event)
    return True


def cancel(wanted: str | None, *, rollback: bool = False) -> int:
    """End a run: a live controller is told, else the end is carried out here. `rollback` takes back what it did."""
    with opened(wanted) as (git, store, run):
        if rollback:
            return _taken_back(git, store, run)
        _refuse_over(run)
        _cancelled(git, store, run)
        return 0


def _cancelled(git: Git, store: Store, run: RunRecord) -> None:
    if lease(git.roots.run(run.run_id)) is None:
        try:
            with screen(as_json=False) as shown:
                carry(git, store, run, shown, EventType.CANCELLED)
        except Held:
            pass
        else:
            sys.stdout.write(f"cancelled {run.run_id}\n")
            return
    stop(git.roots.run(run.run_id), store, run.run_id, Event(type=EventType.CANCELLED, actor=actor()))
    sys.stdout.write(f"cancelling {run.run_id}\n")


def _taken_back(git: Git, store: Store, run: RunRecord) -> int:
    """Stop the run, undo what it merged and landed, then end it; cut off anywhere, the same command goes on."""
    from controller.cli.undo import rollback

    if run.state != "cancelled":
        _refuse_over(run)
        _paused(git, store, run)
        while lease(git.roots.run(run.run_id)) is not None:
            time.sleep(_LOOK)
    begun = bool(store.events(run.run_id))
    code = rollback(run.run_id, to="start", module="", dry_run=False, as_json=False) if begun else 0
    if store.run(run.run_id).state not in OVER:
        _cancelled(git, store, run)
    return code


def _refuse_over(run: RunRecord) -> None:
    if run.state in OVER:
        raise UsageError(f"run {run.run_id} is over: {run.state}", f"undo it: grace rollback {run.run_id} --to start")
