import sys
import time

import pytest

from sandbox.helpers import HelperGone, Helpers

DOUBLE = "import sys\nfor line in sys.stdin:\n    print(int(line) * 2, flush=True)"
DIES = "import sys\nfor line in sys.stdin:\n    sys.exit(1) if line == '3\\n' else print(line.strip(), flush=True)"


def test_questions_are_shared_and_all_answered() -> None:
    with Helpers([sys.executable, "-P", "-c", DOUBLE], 2) as helpers:
        for _ in range(2):
            answers = list(helpers.answers([b"%d" % number for number in range(100)]))
            assert sorted(map(int, answers)) == [number * 2 for number in range(100)]
        assert list(helpers.answers([])) == []


def test_a_helper_that_ends_is_said() -> None:
    with Helpers([sys.executable, "-P", "-c", DIES], 2) as helpers, pytest.raises(HelperGone):
        list(helpers.answers([b"%d" % number for number in range(50)]))


def test_a_program_that_is_not_there() -> None:
    with pytest.raises(HelperGone):
        Helpers(["/nowhere/at/all"], 1)


def test_closing_does_not_wait_for_answers() -> None:
    begin = time.monotonic()
    with Helpers([sys.executable, "-P", "-c", "import time; time.sleep(60)"], 2):
        pass
    assert time.monotonic() - begin < 30
