"""Who stops listening stops nothing."""

import os
import sys

from controller.voice import Tolerant, say


def test_a_pipe_that_nobody_reads_any_more_is_silence(monkeypatch):
    reading, writing = os.pipe()
    with os.fdopen(writing, "w") as stream:
        monkeypatch.setattr(sys, "stdout", stream)
        say("heard")
        assert os.read(reading, 100) == b"heard"
        os.close(reading)
        say("not heard")
        say("nor this")
        told = Tolerant(stream)
        assert told.write("nor this") == len("nor this")
        told.flush()
        assert not told.isatty()
        assert told.fileno() == writing
    say("and this is closed")
    told.write("as well")
    told.flush()


def test_words_for_people_go_where_they_belong(capsys):
    say("out")
    say("err", error=True)
    assert capsys.readouterr() == ("out", "err")
