"""What a fresh attempt is told: the findings of the attempt before it, and what happened to its tree since."""

from collections.abc import Iterable

from controller.store.records import Records
from controller.store.store import Recorded
from packets.events import EventType
from packets.packet import PacketDecisions
from packets.verdict import Finding, Severity
from reviewer.inert import inert

_MESSAGES = 40
"""So many of the last messages of people go into a packet."""

_LINES, _CHARACTERS = 20, 300
"""Of what an earlier attempt decided, so many lines of so many characters."""


def feedback(records: Records, events: list[Recorded], module: str, attempt: int) -> tuple[Finding, ...]:
    """Return the findings for attempt number `attempt` at `module`: errors first, then what people and merges said."""
    before = records.attempt(module, attempt - 1)
    errors = before.verdict.errors if before and before.verdict else ()
    return (*errors, *_since(events, module, attempt - 1))


def messages(events: Iterable[Recorded], wanted: Iterable[str]) -> tuple[Finding, ...]:
    """Return what people said, of the messages with these ids, in the order it was said."""
    ids = set(wanted)
    said = [e.event for e in events if e.event.type is EventType.SAID and e.event.data["id"] in ids]
    return tuple(
        Finding(code="person.said", severity=Severity.NOTE, message=e.data["text"], evidence=f"said by {e.actor}")
        for e in said[-_MESSAGES:]
    )


def decisions(records: Records, module: str, attempt: int) -> PacketDecisions:
    """Return what the attempt before found out and ruled out, in its own words, made harmless and kept short."""
    before = records.attempt(module, attempt - 1)
    report = before.outcome.report if before and before.outcome else None
    if report is None:
        return PacketDecisions()
    said = report.decisions
    return PacketDecisions(rationale=_short(said.verified_facts), rejected=_short(said.rejected_alternatives))


def _short(lines: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(inert(line, limit=_CHARACTERS) for line in lines[:_LINES])


def _since(events: list[Recorded], module: str, attempt: int) -> list[Finding]:
    """Collect what was said about the module after its last attempt was judged."""
    said: list[Finding] = []
    for _, _, event in events:
        data = event.data
        if event.type is EventType.ATTEMPT_JUDGED and event.module == module and event.attempt == attempt:
            said.clear()
        elif event.type is EventType.CONFLICT and event.module == module:
            paths = ", ".join(data.get("paths", ()))
            said.append(_finding("merge.conflict", f"the tree no longer merges; others changed: {paths}"))
        elif event.type is EventType.REFRESHED and data.get("culprit") == module:
            said.extend(Finding.model_validate_json(text) for text in data.get("findings", ()))
        elif event.type is EventType.REJECTED and module in data.get("modules", ()) and data.get("reason"):
            said.append(_finding("person.rejected", data["reason"], actor=event.actor))
    return said


def _finding(code: str, message: str, actor: str = "") -> Finding:
    return Finding(code=code, severity=Severity.ERROR, message=message, evidence=f"said by {actor}" if actor else "")
