"""The questions at a terminal, on a real one."""

import os
import threading
import time
from types import SimpleNamespace

import pytest

from controller.prompt import Overtaken
from controller.table import Table
from packets.events import EventType


def asking(*modules, waits="approval"):
    question = SimpleNamespace(subject="wave:1", key="k", modules=modules)
    return SimpleNamespace(
        questions={"wave:1": question},
        at=lambda module: SimpleNamespace(waits_for=waits),
        shape=SimpleNamespace(phases=()),
    )


def answered(person, state, *words):
    """Type each word after another question has been shown; returns the event and all that was shown."""
    table = Table()
    table.state = state
    table.console.file = shown = Shown()

    def type_():
        for count, word in enumerate(words, 1):
            while sum(map(shown.text.count, ("]: ", "told): ", "reason: "))) < count:
                time.sleep(0.01)
            os.write(person, word.encode() + b"\n")

    typing = threading.Thread(target=type_, daemon=True)
    typing.start()
    event = table.answer(state)
    table.close()
    typing.join(timeout=10)
    return event, shown.text


class Shown:
    """What the console wrote."""

    def __init__(self):
        self.text = ""

    def write(self, text):
        self.text += text

    def flush(self):
        """Nothing waits."""


def test_what_was_typed_before_the_question_answers_nothing(terminal):
    os.write(terminal, b"approve\n")
    time.sleep(0.1)
    event, shown = answered(terminal, asking("A"), "later")
    assert event is None
    assert "May A be merged?" in shown


def test_a_word_that_is_none_explains_them_and_asks_again(terminal):
    event, shown = answered(terminal, asking("A"), "?", "app")
    assert event.type is EventType.GRANTED
    assert "judged anew" in shown


def test_a_no_without_a_reason_is_asked_again(terminal):
    event, _ = answered(terminal, asking("A"), "rej", "", "rej", "name it better")
    assert (event.type, event.data["reason"]) == (EventType.REJECTED, "name it better")


def test_a_no_to_what_is_stuck_needs_no_reason(terminal):
    event, shown = answered(terminal, asking("A", waits="stuck"), "rej", "")
    assert (event.type, event.data["reason"]) == (EventType.REJECTED, "")
    assert "failed twice in the same way" in shown
    assert "the next attempt is told" not in shown, "there is none"


def test_a_question_that_is_answered_elsewhere_goes_away(terminal):
    """While it is asked, the inbox is looked into: a word of somebody else's, or another answer, ends it."""
    table, state = Table(), asking("A")
    table.state = state
    table.console.file = shown = Shown()
    table._follows = lambda subject: ""
    table.run = SimpleNamespace(run_id="r1")
    said = []
    table.store = SimpleNamespace(
        approvals=lambda run: [{"subject": "wave:1", "key": "k"}], unread=lambda run: said, lapsed=lambda run: []
    )
    threading.Timer(0.3, lambda: said.append("a pause")).start()
    with pytest.raises(Overtaken):
        table.answer(state)
    table.close()
    assert "May A be merged?" in shown.text
    assert table.later == set(), "it was not put off"


def test_what_a_person_edits_hangs_on_a_branch_until_an_attempt_has_it(world, monkeypatch, tmp_path):
    from packets.events import Event

    editor = tmp_path / "editor"
    editor.write_text('#!/bin/sh\nshift\necho better > "$1"\n')
    editor.chmod(0o755)
    monkeypatch.setenv("VISUAL", str(editor))
    monkeypatch.chdir(world.path)
    world.plan({"A": {"writes": {"src/a.txt": "a"}}})
    world.run().exits(4)
    (question,) = world.status()["approvals"]
    with world.store() as store:
        table = Table()
        table.store, table.run = store, store.run(None)
        changed = table._by_hand(["A"], lambda: True, shell=False)
        world.git("gc", "-q", "--prune=now")
        data = {"subject": question["subject"], "key": question["key"], **changed}
        store.post(world.run_id, Event(type=EventType.EDITED, actor="somebody", data=data))
    world.grace("resume").exits(4)
    world.grace("approve").exits(0)
    world.grace("resume").exits(4)
    world.grace("approve").exits(0)
    world.grace("resume").exits(0)
    assert world.show("src/a.txt", "main") == "better"
    assert f"refs/grace/runs/{world.run_id}/A/attempt-1-edited" in world.refs()
    assert world.leftovers() == []
