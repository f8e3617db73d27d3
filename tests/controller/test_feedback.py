"""What a fresh attempt is told: of its own module, of the attempt before it, and of what was said since."""

from dataclasses import dataclass
from types import SimpleNamespace

import pytest

from controller.feedback import feedback
from controller.store.store import Recorded
from packets.events import Event, EventType
from packets.verdict import Finding, Severity

E = EventType
ERROR = Finding(code="scope.outside", severity=Severity.ERROR, message="not yours")


@dataclass
class Records:
    """The one record that is looked at."""

    errors: tuple = ()

    def attempt(self, module, attempt):
        assert (module, attempt) == ("A", 1)
        return SimpleNamespace(verdict=SimpleNamespace(errors=self.errors))


def told(*events, errors=()):
    return [
        (f.code, f.message)
        for f in feedback(Records(errors), [Recorded(n, "", e) for n, e in enumerate(events)], "A", 2)
    ]


JUDGED = Event(type=E.ATTEMPT_JUDGED, module="A", attempt=1)
NO = {"modules": ["A"], "reason": "because"}


@pytest.mark.parametrize(
    ("event", "codes"),
    [
        (Event(type=E.CONFLICT, module="A", data={"paths": ["x"]}), ["merge.conflict"]),
        (Event(type=E.CONFLICT, module="B", data={"paths": ["x"]}), []),
        (Event(type=E.REFRESHED, data={"culprit": "A", "findings": [ERROR.model_dump_json()]}), ["scope.outside"]),
        (Event(type=E.REFRESHED, data={"culprit": "B", "findings": [ERROR.model_dump_json()]}), []),
        (Event(type=E.REJECTED, actor="me", data=NO), ["person.rejected"]),
        (Event(type=E.REJECTED, data={**NO, "modules": ["B"]}), []),
        (Event(type=E.REJECTED, data={**NO, "reason": ""}), []),
    ],
)
def test_what_was_said_since_it_was_judged(event, codes):
    assert [code for code, _ in told(JUDGED, event)] == codes
    assert told(event, JUDGED) == [], "what was said before was of an older tree"


def test_errors_of_the_verdict_go_first():
    assert [code for code, _ in told(JUDGED, Event(type=E.REJECTED, data=NO), errors=(ERROR,))] == [
        "scope.outside", "person.rejected",
    ]  # fmt: skip
