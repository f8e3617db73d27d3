"""Events and questions in words."""

import pytest

from controller.wording import ANSWERS, CAUSES, answer, line, offers, sentence
from packets.events import Event, EventType


def judged(**finding):
    body = {"code": "worker.exit", "severity": "error", "message": "the worker ended with exit code 2"} | finding
    data = {"decision": "revise", "findings": [body]}
    return line(Event(type=EventType.ATTEMPT_JUDGED, module="A", attempt=1, data=data))


def test_a_worker_that_gave_up_is_quoted_with_its_last_words():
    said = "Traceback:\n  x\nFileNotFoundError: tools/fix.py\n\n"
    assert judged(evidence=said).endswith("exit code 2: FileNotFoundError: tools/fix.py")
    assert judged(evidence="\n").endswith("exit code 2")
    assert judged(evidence=said, code="worker.memory").endswith("exit code 2")
    assert len(judged(evidence="x" * 5000)) < 300


def test_a_stopped_attempt_says_why_once():
    event = Event(type=EventType.ATTEMPT_STOPPED, module="A", attempt=1, data={"reason": "stopped before its end"})
    assert line(event) == "A attempt 1: stopped before its end"
    assert line(event.model_copy(update={"data": {}})) == "A attempt 1: stopped"


def test_a_no_names_the_module_that_it_is_about():
    data = {"subject": "wave:1", "key": "k", "module": "A", "reason": "too long"}
    event = Event(type=EventType.REJECTED, actor="anna", data=data)
    assert line(event) == "A: rejected by anna: too long"
    assert line(event.model_copy(update={"data": data | {"module": ""}})) == "wave:1: rejected by anna: too long"


def test_questions_are_sentences():
    assert sentence("landing:first", [], []) == "May phase first land?"
    assert sentence("wave:1", ["A", "B"], ["approval", "approval"]) == "May A, B be merged?"
    assert sentence("module:A", ["A"], ["stuck"]) == f"A: {CAUSES['stuck']}"


@pytest.mark.parametrize(
    ("said", "meant"),
    [("approve", "approve"), ("a", "approve"), (" Rej ", "reject"), ("", None), ("?", None), ("x", None), (" ", None)],
)
def test_the_beginning_of_a_word_is_enough(said, meant):
    assert answer(said, list(ANSWERS)) == meant


@pytest.mark.parametrize(
    ("subject", "modules", "waits", "does"),
    [
        ("wave:1", ["A", "B"], ["approval", "approval"], "which the next attempt is told"),
        ("module:A", ["A"], ["stuck"], "the module has failed"),
        ("landing:first", [], [], "the run has failed"),
        ("push:first", [], [], "not pushed"),
        ("hook:first:1", [], [], "not run"),
    ],
)
def test_a_no_says_what_it_does_to_this_question(subject, modules, waits, does):
    found = offers(subject, modules, waits)
    assert does in found["reject"]
    assert ("edit" in found) == bool(modules)


def test_a_beginning_that_fits_several_words_is_none():
    assert answer("d", ["diff", "done"]) is None
