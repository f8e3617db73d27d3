"""What checks said, under their key; one that says different things is flaky."""

from controller.store.database import Database
from controller.store.said import flaky, remember, said


def test_words_are_kept_in_order_for_each_key_and_run(tmp_path):
    db = Database(tmp_path / "state.db", create=True)
    for run, key, passed in (("r1", "k", False), ("r2", "k", True), ("r1", "same", True), ("r1", "same", True)):
        remember(db, key, run, "tree", f"check {key}", passed=passed)
    assert said(db, "k") == ["failed", "passed"]
    assert said(db, "unknown") == []
    expected = {"command": "check k", "tree": "tree", "said": ["failed", "passed"]}
    assert flaky(db, "r1") == flaky(db, "r2") == [expected]
    assert flaky(db, "r3") == []
    for _ in range(50):
        remember(db, "k", "r1", "tree", "check k", passed=True)
    assert said(db, "k") == ["passed"] * 20
    db.close()
