"""What Ctrl-C and its kin are turned into."""

import os
import queue
import signal
import threading
import time

import pytest

from controller.signals import CANCEL, DETACH, GO_ON, PAUSE, Menu, signals
from packets.errors import MachineLacks
from packets.events import EventType


class Person:
    """Answers the question when told to."""

    def __init__(self):
        self.words = queue.SimpleQueue()
        self.asked = 0

    def __call__(self, stands):
        self.asked += 1
        while stands():
            try:
                return self.words.get(timeout=0.01)
            except queue.Empty:
                continue
        return ""


@pytest.fixture
def said():
    return queue.SimpleQueue()


def until(condition):
    end = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_without_a_terminal_the_first_one_stops_the_run_and_the_next_one_means_now(said, number):
    before = signal.signal(number, signal.default_int_handler)
    try:
        with signals(said.put, lambda: False, None):
            os.kill(os.getpid(), number)
            assert said.get(timeout=60).type is EventType.INTERRUPTED
            with pytest.raises(KeyboardInterrupt):
                os.kill(os.getpid(), number)
        assert signal.getsignal(number) is signal.default_int_handler
    finally:
        signal.signal(number, before)


def test_a_question_is_left_at_once(said):
    with signals(said.put, lambda: True, None), pytest.raises(KeyboardInterrupt):
        os.kill(os.getpid(), signal.SIGTERM)


def test_a_hangup_that_was_to_be_ignored_stays_ignored(said):
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with signals(said.put, lambda: False, None):
            os.kill(os.getpid(), signal.SIGHUP)
            assert signal.getsignal(signal.SIGHUP) == signal.SIG_IGN
        assert said.empty()
    finally:
        signal.signal(signal.SIGHUP, before)


@pytest.mark.parametrize(
    ("word", "meant"), [(PAUSE, EventType.PAUSED), (CANCEL, EventType.CANCELLED), (GO_ON, None), (DETACH, None)]
)
def test_at_a_terminal_ctrl_c_does_what_the_person_says(said, word, meant):
    person, gone = Person(), threading.Event()
    menu = Menu(person, gone.set, print)
    with signals(said.put, lambda: False, menu):
        for count in (1, 2):  # and it can be asked again
            os.kill(os.getpid(), signal.SIGINT)
            assert menu.open
            person.words.put(word)
            until(lambda: not menu.open)
            assert person.asked == count
            assert (said.get_nowait().type if meant else None) is meant
    assert gone.is_set() is (word == DETACH)
    assert said.empty()


def test_a_second_ctrl_c_takes_the_question_away_and_stops_the_run(said):
    person = Person()
    menu = Menu(person, print, print)
    with signals(said.put, lambda: False, menu):
        os.kill(os.getpid(), signal.SIGINT)
        until(lambda: person.asked)
        os.kill(os.getpid(), signal.SIGINT)
        assert said.get(timeout=60).type is EventType.INTERRUPTED
        until(lambda: not menu.open)
    assert said.empty()


def test_a_run_that_cannot_be_handed_over_goes_on_here(said):
    told, person = [], Person()

    def fails():
        raise MachineLacks("no room", "make some")

    menu = Menu(person, fails, told.append)
    with signals(said.put, lambda: False, menu):
        os.kill(os.getpid(), signal.SIGINT)
        person.words.put(DETACH)
        until(lambda: not menu.open)
    assert told == ["no room (make some); the run goes on here"]
    assert said.empty()
