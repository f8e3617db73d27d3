"""What follows a landing and cannot be undone: a push, hooks. Each is asked about; the walk goes on meanwhile."""

from collections.abc import Iterable
from dataclasses import replace

from controller.kernel.state import Decision, Due, RunState, ask, bound_key, issue
from packets.events import ActionKind, Event, PhaseShape


def follows(phase: PhaseShape, commit: str) -> tuple[Due, ...]:
    """Return what is due now that the phase has landed with this commit."""
    return tuple(Due(after.subject, after.kind, after.what, commit) for after in phase.after)


def follow(state: RunState) -> Decision | None:
    """Ask about what nobody was asked about yet; carry out what got a yes, one at a time."""
    for due in state.due:
        if not due.stage and not state.closing:
            return ask(staged(state, due.subject, "asked"), due.subject, _key(due), ())
        if due.stage == "granted" and not state.doing(ActionKind.AFTER):
            data = {**due._asdict(), "key": _key(due)}
            return issue(staged(state, due.subject, "running"), ActionKind.AFTER, **data)
    return None


def _key(due: Due) -> str:
    """Bind a yes to what is done, to which commit, and to which try."""
    return bound_key([(due.subject, f"{due.what} {due.commit} {due.tries}")])


def is_due(state: RunState, subject: str) -> bool:
    """Tell whether the subject is something that follows a landing."""
    return any(due.subject == subject for due in state.due)


def staged(state: RunState, subject: str, stage: str) -> RunState:
    """Write down how far it is."""
    return replace(state, due=tuple(d._replace(stage=stage) if d.subject == subject else d for d in state.due))


def dropped(state: RunState, subject: str) -> RunState:
    """Leave it undone, as a person said; or it is done."""
    return replace(state, due=tuple(d for d in state.due if d.subject != subject))


def asked_anew(state: RunState, reverted: Iterable[str]) -> RunState:
    """Void after a rollback what was agreed on; what follows a landing that was reverted is not due any more."""
    gone = set(reverted)
    phases = [p for p in state.shape.phases if not gone.isdisjoint(m for wave in p.waves for m in wave.modules)]
    void = {after.subject for phase in phases for after in phase.after}
    left = (d._replace(stage="", tries=d.tries + 1) for d in state.due if d.subject not in void)
    return replace(state, due=tuple(left))


def once_more(state: RunState) -> RunState:
    """Carry out what the machine cut off again, when the run goes on: the yes still holds."""
    return replace(state, due=tuple(d._replace(stage="granted") if d.stage == "running" else d for d in state.due))


def done(state: RunState, event: Event) -> RunState:
    """Take in how it went; what failed, or may have, is asked about anew."""
    subject = event.data["subject"]
    if event.data["ok"]:
        return dropped(state, subject)
    tried = (d._replace(stage="", tries=d.tries + 1) if d.subject == subject else d for d in state.due)
    return replace(state, due=tuple(tried))
