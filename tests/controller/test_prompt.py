"""What is typed is read, unless the question goes away first."""

import os
import sys
import termios
import threading
from contextlib import suppress

import pytest

from controller.prompt import Overtaken, forget_typed, keys, typed


def test_a_line_is_returned_as_it_was_typed(terminal):
    os.write(terminal, "  grüße \n second\n".encode())
    assert typed(lambda: True) == "grüße"
    assert typed(lambda: True) == "second"
    os.write(terminal, b"\x04")
    with pytest.raises(EOFError):
        typed(lambda: True)


def test_a_question_that_goes_away_leaves_half_a_line_unread(terminal):
    os.write(terminal, b"half a wo")
    gone = threading.Event()
    threading.Timer(0.2, gone.set).start()
    with pytest.raises(Overtaken):
        typed(lambda: not gone.is_set())
    forget_typed()
    os.write(terminal, b"yes\n")
    assert typed(lambda: True) == "yes"


def test_keys_are_taken_singly_and_the_terminal_is_given_back_whatever_happens(terminal):
    before = termios.tcgetattr(sys.stdin.fileno())
    with suppress(RuntimeError), keys() as pressed:
        assert pressed.pressed(0) == ""
        os.write(terminal, b"q")
        assert pressed.pressed(60) == "q"
        pressed.off()
        assert termios.tcgetattr(sys.stdin.fileno()) == before
        pressed.on()
        raise RuntimeError
    assert termios.tcgetattr(sys.stdin.fileno()) == before
