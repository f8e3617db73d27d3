"""What is seen of a run: lines for people, objects for programs."""

import json

from controller.kernel import begin
from controller.screen import Jsons, Lines, event_object, screen
from packets.events import Event, EventType, PhaseShape, Shape, WaveShape

SHAPE = Shape(
    phases=(PhaseShape(id="one", waves=(WaveShape(number=1, modules=("A",)),)),), depends_on={}, attempts={"A": 1}
)
STARTED = Event(type=EventType.STARTED, data={"shape": SHAPE.model_dump_json(), "tip": "t0"})


def test_without_a_terminal_it_is_lines_and_json_when_asked():
    with screen(as_json=False) as shown:
        assert type(shown) is Lines
        assert shown.answer(begin(STARTED)) is None, "nobody is asked"
    with screen(as_json=True) as shown:
        assert type(shown) is Jsons


def test_the_shape_is_no_part_of_what_is_printed():
    body = event_object("r1", STARTED)
    assert body == {
        "type": "run.started", "run_id": "r1", "module": None, "attempt": None, "actor": "grace", "data": {"tip": "t0"},
    }  # fmt: skip


def test_json_holds_only_objects_on_stdout_and_the_end_once(capsys):
    shown = Jsons()
    shown.run_id = "r1"
    shown.tell("words")
    shown.event(STARTED, begin(STARTED))
    shown.event(Event(type=EventType.FINISHED, data={"state": "done"}), begin(STARTED))
    assert shown.finished("r1", "failed", 1, "a note") == 1
    out, err = capsys.readouterr()
    assert [json.loads(line)["type"] for line in out.splitlines()] == ["run.started", "run.finished"]
    assert json.loads(out.splitlines()[-1]) == {
        "type": "run.finished", "run_id": "r1", "state": "failed", "exit": 1, "note": "a note",
    }  # fmt: skip
    assert err == "grace: words\n"


def test_lines_name_the_next_command(capsys):
    shown = Lines()
    assert shown.finished("r1", "waiting", 4) == 4
    assert "grace approve r1" in capsys.readouterr().out
    assert shown.finished("r1", "failed", 1, "why") == 1
    said = capsys.readouterr().out
    assert "run r1 is failed: why" in said
    assert "grace review r1" in said
    assert shown.finished("r1", "done", 0) == 0
    assert "look" not in capsys.readouterr().out
