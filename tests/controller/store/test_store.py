"""Events, intents and what follows from them, in one transaction each."""

import json

import pytest

from controller.kernel import decide
from controller.store.store import Recorded, RunRecord, Store, worked
from packets.errors import NotPermitted, UsageError
from packets.events import ActionKind, Event, EventType, PhaseShape, Shape, WaveShape
from packets.plan import Plan

PLAN = Plan.model_validate_json(json.dumps({
    "version": 1, "name": "p", "agents": {"x": {"kind": "command", "run": ["true"]}}, "approval_timeout": "1h",
    "phases": [{"id": "one", "modules": [{"id": m, "purpose": "x", "write_scope": [f"{m}.txt"]} for m in "AB"]}],
}))  # fmt: skip
SHAPE = Shape(
    phases=(PhaseShape(id="one", waves=(WaveShape(number=1, modules=("A", "B")),)),),
    depends_on={}, attempts={"A": 2, "B": 2}, max_workers=2,
)  # fmt: skip
STARTED = Event(type=EventType.STARTED, data={"shape": SHAPE.model_dump_json(), "tip": "t0"})


def record(run_id="r1", created="2026-01-01T00:00:00.000+00:00", state="running"):
    return RunRecord(run_id, "p", created, "plan.yaml", "d", PLAN.model_dump_json(by_alias=True), b"text",
                     "refs/heads/main", "c0", "{}", state, None, "")  # fmt: skip


@pytest.fixture
def store(tmp_path):
    made = Store(tmp_path / "state.db", create=True)
    made.create_run(record())
    yield made
    made.close()


class Fold:
    """Take events in as the loop does."""

    def __init__(self, store):
        self.store, self.state = store, None

    def take(self, event, inbox=""):
        made = decide(self.state, event)
        seq = self.store.record("r1", event, self.state, made, inbox=inbox)
        if seq is not None:
            self.state = made.state
        return seq

    def judged(self, module, action):
        data = {"decision": "accept", "head_tree": f"h{module}", "commit": f"c{module}", "signature": ""}
        return self.take(Event(type=EventType.ATTEMPT_JUDGED, module=module, attempt=1, action=action, data=data))


@pytest.fixture
def fold(store):
    made = Fold(store)
    made.take(STARTED)
    return made


def test_intents_are_there_before_anybody_acts_and_closed_by_their_outcome(store, fold):
    opened = store.open_actions("r1")
    assert [(a.kind, a.module) for a in opened] == [(ActionKind.ATTEMPT, "A"), (ActionKind.ATTEMPT, "B")]
    assert fold.judged("A", opened[0].id) is not None
    assert [a.module for a in store.open_actions("r1")] == ["B"]


def test_an_outcome_counts_once(store, fold):
    action = store.open_actions("r1")[0].id
    assert fold.judged("A", action) is not None
    count = len(store.events("r1"))
    assert fold.judged("A", action) is None
    assert len(store.events("r1")) == count


def test_an_inbox_row_counts_once(store, fold):
    row = store.post("r1", Event(type=EventType.PAUSED, actor="me"))
    ((unread, event),) = store.unread("r1")
    assert (unread, event.actor) == (row, "me")
    assert fold.take(event, inbox=row) is not None
    assert store.unread("r1") == []
    assert fold.take(event, inbox=row) is None


def test_the_inbox_is_read_in_order_and_by_its_own_run(store):
    store.create_run(record("r2"))
    for name in ("one", "two", "three"):
        store.post("r1", Event(type=EventType.NOTE, actor=name))
    store.post("r2", Event(type=EventType.NOTE, actor="other"))
    assert [e.actor for _, e in store.unread("r1")] == ["one", "two", "three"]


def ask(store, fold):
    for action in store.open_actions("r1"):
        fold.judged(action.module, action.id)
    return store.approvals("r1")


def test_a_question_is_an_event_and_a_row_with_its_time(store, fold):
    (row,) = ask(store, fold)
    assert (row["subject"], row["modules"], row["state"]) == ("wave:1", '["A", "B"]', "open")
    assert int(row["lapses_at"][11:13]) == (int(row["asked_at"][11:13]) + 1) % 24
    last = store.events("r1")[-1].event
    assert (last.type, last.data["subject"], last.data["key"]) == (EventType.ASKED, "wave:1", row["key"])
    assert store.open_actions("r1") == [], "a question is no work"
    assert store.lapsed("r1") == []


@pytest.mark.parametrize(
    ("kind", "state"),
    [(EventType.GRANTED, "granted"), (EventType.REJECTED, "rejected"), (EventType.LAPSED, "lapsed"),
     (EventType.EDITED, "void"), (EventType.CANCELLED, "void")],
)  # fmt: skip
def test_the_row_follows_the_fold(store, fold, kind, state):
    (row,) = ask(store, fold)
    data = {"subject": row["subject"], "key": row["key"], "module": "A" if kind is EventType.EDITED else "",
            "tree": "t", "reason": "because"}  # fmt: skip
    fold.take(Event(type=kind, actor="me", data=data))
    states = {(r["subject"], r["key"]): r["state"] for r in store.approvals("r1", open_only=False)}
    assert states[row["subject"], row["key"]] == state
    open_now = {(r["subject"], r["key"]) for r in store.approvals("r1")}
    assert open_now == {(q.subject, q.key) for q in fold.state.questions.values()}


def test_a_permit_is_a_granted_approval_of_exactly_this(store, fold):
    (question,) = ask(store, fold)
    given = {"subject": question["subject"], "key": question["key"]}
    with pytest.raises(NotPermitted):
        store.permit("r1", **given)
    fold.take(Event(type=EventType.GRANTED, actor="somebody", data=given))
    permit = store.permit("r1", **given)
    assert (permit.run_id, permit.subject, permit.key) == ("r1", question["subject"], question["key"])
    assert permit.granted_by == "somebody"
    for other in ({"subject": "wave:9"}, {"key": "another"}, {"run_id": "r2"}):
        with pytest.raises(NotPermitted):
            store.permit(**{"run_id": "r1", **given, **other})


@pytest.mark.parametrize("kind", [EventType.REJECTED, EventType.LAPSED])
def test_nothing_else_gives_a_permit(store, fold, kind):
    (question,) = ask(store, fold)
    given = {"subject": question["subject"], "key": question["key"]}
    fold.take(Event(type=kind, data={**given, "reason": "no"}))
    with pytest.raises(NotPermitted):
        store.permit("r1", **given)


def test_a_stale_answer_changes_no_row(store, fold):
    (row,) = ask(store, fold)
    fold.take(Event(type=EventType.GRANTED, data={"subject": "wave:1", "key": "another"}))
    assert [r["key"] for r in store.approvals("r1")] == [row["key"]]


def test_modules_and_transitions_are_the_fold(store, fold):
    ask(store, fold)
    assert [(m["module"], m["place"], m["wave"], m["state"], m["waits_for"]) for m in store.modules("r1")] == [
        ("A", 1, 1, "waiting", "approval"), ("B", 2, 1, "waiting", "approval"),
    ]  # fmt: skip
    rows = store.db.rows("SELECT before, after FROM transitions WHERE module='A' ORDER BY seq, rowid")
    assert [tuple(r) for r in rows] == [("queued", "working"), ("working", "waiting")]


def test_events_come_back_as_they_were(store, fold):
    event = Event(type=EventType.NOTE, module="A", attempt=3, actor="me", data={"message": "ü", "list": [1]})
    seq = fold.take(event)
    assert store.events("r1")[-1].event == event
    assert [r.seq for r in store.events("r1", after=seq - 1)] == [seq]


def test_a_run_is_found_by_a_unique_beginning(store):
    store.create_run(record("r22", "2026-01-02T00:00:00.000+00:00"))
    store.create_run(record("r23", "2026-01-03T00:00:00.000+00:00"))
    assert store.run(None).run_id == "r23"
    assert store.run("r22").run_id == "r22"
    assert store.run("r1").run_id == "r1"
    with pytest.raises(UsageError, match="fits several"):
        store.run("r2")
    with pytest.raises(UsageError, match="is not a run"):
        store.run("x")


def test_an_exact_id_wins_over_being_a_beginning(store):
    store.create_run(record("r12", "2026-01-02T00:00:00.000+00:00"))
    assert store.run("r1").run_id == "r1"


def test_forgetting_a_run_leaves_the_others(store, fold):
    ask(store, fold)
    store.create_run(record("r2"))
    store.post("r2", Event(type=EventType.NOTE))
    store.forget_run("r1")
    assert [r.run_id for r in store.runs()] == ["r2"]
    assert store.events("r1") == store.modules("r1") == store.approvals("r1", open_only=False) == []
    assert len(store.unread("r2")) == 1


def at(second, kind, **data):
    return Recorded(0, f"2026-01-01T00:{second // 60:02d}:{second % 60:02d}.000+00:00", Event(type=kind, data=data))


E = EventType


@pytest.mark.parametrize(
    ("events", "seconds"),
    [
        ([], 0),
        ([at(0, E.STARTED), at(10, E.NOTE)], 10),
        ([at(0, E.STARTED), at(10, E.NOTE), at(100, E.RESUMED), at(105, E.NOTE)], 15),
        ([at(0, E.STARTED), at(10, E.NOTE), at(500, E.ROLLED_BACK), at(600, E.RESUMED), at(605, E.NOTE)], 15),
        ([at(0, E.STARTED), at(10, E.NOTE), at(99, E.GRANTED), at(100, E.RESUMED), at(105, E.NOTE)], 15),
        ([at(0, E.STARTED), at(10, E.ASKED), at(70, E.GRANTED, waited=60.0), at(75, E.MERGED)], 15),
        ([at(0, E.STARTED), at(10, E.ASKED), at(70, E.GRANTED, waited=60.0), at(90, E.RESUMED), at(95, E.NOTE)], 15),
        ([at(0, E.STARTED), at(40, E.GRANTED), at(50, E.MERGED)], 50),
    ],
)
def test_working_time_leaves_out_what_a_run_stood_still_or_waited(events, seconds):
    assert worked(events) == pytest.approx(seconds)
