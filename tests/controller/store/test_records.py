"""Documents of a run: the first packet stays, steps are not doubled, only exact evidence counts."""

import pytest

from controller.store.records import Records
from controller.store.store import Store
from packets.verdict import CheckResult


@pytest.fixture
def records(tmp_path):
    store = Store(tmp_path / "state.db", create=True)
    yield Records(store, "r1")
    store.close()


def step(records, kind="merge", module="A", after="b", before="a"):
    records.add_step(kind, module, wave=1, phase="one", before=before, after=after)


def test_steps_are_numbered_and_not_doubled(records):
    step(records)
    step(records)
    step(records, after="c")
    assert [(s.n, s.after, s.state) for s in records.saga()] == [(1, "b", "done"), (2, "c", "done")]


def test_runs_have_their_own_saga(records):
    step(records)
    assert Records(records.store, "r2").saga() == []


def test_steps_are_undone_and_rewritten_together(records):
    step(records)
    step(records, module="B", before="b", after="c")
    records.replace_saga({1}, {2: ("a", "d")})
    assert [(s.before, s.after, s.state) for s in records.saga()] == [("a", "b", "undone"), ("a", "d", "done")]
    step(records)  # the same merge may be made once more after it was undone
    assert [s.state for s in records.saga()] == ["undone", "done", "done"]


@pytest.mark.parametrize("state", ["done", "void"])
def test_an_intent_stands_until_it_is_settled(records, state):
    step(records)
    n = records.intend("rollback", "A", "start")
    assert [(s.n, s.kind, s.module, s.phase, s.state) for s in records.saga()[1:]] == [
        (n, "rollback", "A", "start", "intended")
    ]
    records.settle_step(n, state)
    assert records.saga()[1].state == state
    assert records.saga()[0].state == "done"


def test_evidence_is_kept_by_its_key(records):
    result = CheckResult(command="true", exit_code=0, reason="exited", duration=0.1)
    assert records.evidence("k") is None
    records.put_evidence("k", (result,))
    records.put_evidence("k", (result,))
    assert records.evidence("k") == (result,)
    assert records.evidence("other") is None


def test_a_packet_that_was_issued_stays_as_it_was(world):
    world.plan({"A": {"writes": {"src/a.txt": "a"}}})
    world.run("--profile", "fast").exits(4)
    with world.store() as store:
        records = Records(store, world.run_id)
        (first,) = records.attempts()
        records.put_packet(first.packet, "another text")
        assert records.attempt("A", 1) == first
        assert records.attempt("A", 2) is None
        assert records.attempts("B") == []
        assert (first.verdict is not None, first.outcome is not None, bool(first.commit)) == (True, True, True)
