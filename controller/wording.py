"""Events in words: one plain line each."""

from collections.abc import Sequence

from packets.events import Event, EventType
from reviewer.inert import inert

E = EventType
_LONGEST = 8000  # characters of one event
CAUSES = {
    "stuck": "stuck: it failed twice in the same way; approve tries once more, reject ends it",
    "blocked": "blocked: its worker says that it cannot go on; approve tries once more, reject ends it",
    "asked": "its merge waits for a yes",
}
"""Why a module waits for a person, and what a yes and a no do."""
NOES = {
    "landing": "nothing lands, and the run has failed; its work stays on its refs",
    "push": "it is not pushed; the run goes on",
    "hook": "it is not run; the run goes on",
}
"""What a no does, by the kind of the question; to a module it leads to another attempt, or is its end."""
ANSWERS = {
    "approve": "yes",
    "reject": "no; {no}",
    "diff": "show what changed",
    "later": "leave it open; grace approve and grace resume answer it any time",
    "edit": "change the files in your editor; what you leave is judged anew",
    "shell": "change them in a shell; exit ends it, and what you leave is judged anew",
}


def line(event: Event) -> str | None:
    """Return the line for an event, or None for what people need not read; a terminal finds no orders in it."""
    said = _line(event)
    return None if said is None else inert(said, limit=_LONGEST, lines=True)


def _line(event: Event) -> str | None:
    data, who = event.data, event.module
    attempt = f"{who} attempt {event.attempt}"
    match event.type:
        case E.STARTED:
            return "the run begins"
        case E.ATTEMPT_STARTED:
            return f"{attempt}: working"
        case E.ATTEMPT_JUDGED:
            return f"{attempt}: {data['decision']}{_errors(data)}"
        case E.ATTEMPT_STOPPED:
            return f"{attempt}: {data.get('reason') or 'stopped'}"
        case E.MERGED:
            return f"{who}: merged as {data['commit'][:12]}"
        case E.CONFLICT:
            return f"{who}: conflict in {', '.join(data['paths'])}; a fresh attempt follows"
        case E.REFRESHED:
            return _refreshed(data)
        case E.UNDONE:
            return f"{who}: its merge is undone, the innocent stay"
        case E.LANDED:
            return f"landed {data['commit'][:12]} on {data['ref'].removeprefix('refs/heads/')}"
        case E.NOTE:
            return f"{attempt}: {data['message']}" if who else str(data["message"])
    return _rest(event)


def _rest(event: Event) -> str | None:
    data = event.data
    match event.type:
        case E.GRANTED | E.REJECTED | E.LAPSED:
            reason = f": {inert(data['reason'])}" if data.get("reason") else ""
            word = {E.GRANTED: "approved", E.REJECTED: "rejected", E.LAPSED: "approval lapsed"}[event.type]
            return f"{data.get('module') or data['subject']}: {word} by {event.actor}{reason}"
        case E.SAID:
            return f"{event.module or 'to all'}: {event.actor} says: {inert(data['text'])}"
        case E.AFTER_DONE:
            return f"{data['subject']}: {data.get('message') or ('done' if data['ok'] else 'failed')}"
        case E.EDITED:
            return f"{data['module']}: edited by {event.actor}; the new tree is judged"
        case E.BROKEN | E.LANDING_BLOCKED:
            return f"{event.module + ': ' if event.module else ''}{data['message']}"
        case E.LANDING_MOVED:
            return f"the base moved to {data['base'][:12]}; it is merged in, checked and asked again"
        case E.SYNCED:
            return str(data.get("message") or f"the moved base is merged in: {data['tip'][:12]}")
        case E.PAUSED | E.CANCELLED | E.INTERRUPTED | E.RESUMED:
            return f"{event.type.removeprefix('run.')} by {event.actor}"
        case E.ROLLED_BACK:
            left = ", ".join(one["module"] for one in data.get("left", ()))
            what = ", ".join([*data["modules"], *data["reverted"]]) or "nothing"
            return f"rolled back: {what}{f'; left to you: {left}' if left else ''}"
        case _:
            return None


def sentence(subject: str, modules: Sequence[str], waits: Sequence[str], follows: str = "") -> str:
    """Return a question as a sentence; `waits` says why each module waits, `follows` is what follows a landing."""
    if follows:
        return follows
    if not modules:
        return f"May {subject.replace(':', ' ', 1).replace('landing', 'phase')} land?"
    if found := [CAUSES[why] for why in waits if why in ("stuck", "blocked")]:
        return f"{', '.join(modules)}: {found[0]}"
    return f"May {', '.join(modules)} be merged?"


def offers(subject: str, modules: Sequence[str], waits: Sequence[str]) -> dict[str, str]:
    """Return the words that answer a question, each with what it does."""
    ends = "the module has failed" if {"stuck", "blocked"} & set(waits) else ""
    again = "you are asked for the reason, which the next attempt is told"
    no = NOES.get(subject.partition(":")[0]) or ends or again
    return {word: does.format(no=no) for word, does in ANSWERS.items() if modules or word not in {"edit", "shell"}}


def answer(said: str, choices: Sequence[str]) -> str | None:
    """Return the one choice that a person's word begins; None when it begins none, or several."""
    found = [choice for choice in choices if said and choice.startswith(said.strip().lower())]
    return found[0] if len(found) == 1 else None


def _errors(data: dict[str, object]) -> str:
    found = data.get("findings")
    errors = [f for f in found if f["severity"] == "error"] if isinstance(found, list) else []
    return "".join(f"\n    {f['code']}: {_place(f)}{f['message']}{_last_words(f)}" for f in errors[:8])


def _last_words(finding: dict[str, object]) -> str:
    """Return what a worker that gave up said last: often all that there is to know."""
    said = str(finding.get("evidence", "")).split("\n") if finding["code"] == "worker.exit" else []
    return next((f": {text.strip()[:160]}" for text in reversed(said) if text.strip()), "")


def _place(finding: dict[str, object]) -> str:
    if not finding.get("path"):
        return ""
    line_ = f":{finding['line']}" if finding.get("line") else ""
    return f"{finding['path']}{line_}: "


def _refreshed(data: dict[str, object]) -> str:
    what = f"{data['level']} refresh: {'green' if data['green'] else 'RED'}"
    if data.get("files_total") is not None:
        what += f" ({data['files_parsed']} of {data['files_total']} files parsed)"
    if data.get("culprit"):
        what += f", culprit {data['culprit']}"
    if data.get("message"):
        what += f": {data['message']}"
    return what
