"""Status in words; the object behind it is held to docs/json.md elsewhere."""

import pytest

from controller.status import text


def found(state="done", note="", reverted=(False, False)):
    modules = [
        {
            "id": name,
            "state": "done",
            "reverted": back,
            "undone": False,
            "verified": True,
            "findings": [],
            "wave": 1,
            "attempt": 1,
        }
        for name, back in zip(("A", "Long/Name"), reverted, strict=True)
    ]
    body = {"run_id": "r1", "name": "n", "state": state, "note": note, "modules": modules}
    nothing = dict.fromkeys(("approvals", "saga", "rescue", "leftovers", "by_hand", "flaky"), ())
    return body | nothing | dict.fromkeys(("holder", "supervisor"))


@pytest.mark.parametrize("reverted", [(False, False), (True, False)])
def test_columns_stand_below_each_other(reverted):
    rows = text(found(reverted=reverted)).splitlines()[1:]
    assert len({row.index("wave 1") for row in rows}) == 1


def test_a_run_whose_controller_is_gone_says_how_it_goes_on():
    assert "continue: grace resume r1" in text(found("stopped"))
    assert "continue" not in text(found("running"))
    supervised = text({**found("stopped"), "supervisor": {"words": "process 7"}})
    assert "about to be started" in supervised
    assert "continue" not in supervised
    assert text(found("paused", "continue: grace resume r1")).count("continue") == 1
    assert text({**found(), "modules": []}) == "r1  n  done\n"


def test_what_is_left_to_a_person_comes_with_what_to_type():
    step = {"state": "stuck", "module": "A", "reason": "it changed", "commands": ["git revert 1", "grace rollback r1"]}
    over = {"what": "/w", "why": "busy", "commands": ["rm -rf /w"]}
    shown = text({**found(), "saga": [{"state": "done"}, step], "leftovers": ["/w/x"], "by_hand": [over]})
    lines = [line.strip() for line in shown.splitlines()]
    at = lines.index("left to you: undo A: it changed")
    assert lines[at + 1 : at + 3] == step["commands"]
    assert lines[-2:] == ["/w could not be removed: busy; by hand:", "rm -rf /w"]
