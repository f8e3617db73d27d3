"""Effects: known by name, permitted where nothing takes them back, and the place where a process can be told to die."""

import os
import signal
import subprocess
import sys

import pytest

from packets.errors import NotPermitted, UsageError
from packets.permit import SEAL, Permit
from sandbox import crash
from sandbox.effect import check_crash_point, effect


def permit(subject="push:one"):
    return Permit("run", subject, "key", "somebody", seal=SEAL)


def run(body, **env):
    """Run a body between two lines in a process of its own."""
    code = f"import sys\nfrom sandbox.effect import effect\n{body}\nprint('alive')"
    given = {**os.environ, **env}
    return subprocess.run([sys.executable, "-P", "-c", code], env=given, capture_output=True, text=True, check=False)


def test_an_unknown_name_raises_before_anything_is_done():
    with pytest.raises(KeyError):
        effect("ref.nowhere")


@pytest.mark.parametrize("name", ["push", "hook.run"])
@pytest.mark.parametrize(
    "given", [None, "a yes", permit("landing:one"), permit("wave:1"), permit("hooked"), permit("pus:h")]
)
def test_nothing_irreversible_without_a_permit_of_its_kind(name, given):
    with pytest.raises(NotPermitted):
        effect(name, given)


def test_a_permit_lets_its_own_kind_through():
    with effect("push", permit("push:one")), effect("hook.run", permit("hook:one:1")), effect("ref.land"):
        pass


@pytest.mark.parametrize("point", ["ref.land.before", "ref.land.after", "ref.land.after:2"])
def test_it_dies_where_it_is_told_to(point, tmp_path):
    body = "for n in range(3):\n    with effect('ref.land'):\n        open(sys.argv[-1] + str(n), 'w').close()"
    body = body.replace("sys.argv[-1]", repr(f"{tmp_path}/"))
    ended = run(body, GRACE_CRASH_AT=point)
    assert ended.returncode == -signal.SIGKILL
    assert len(list(tmp_path.iterdir())) == {"ref.land.before": 0, "ref.land.after": 1, "ref.land.after:2": 2}[point]


def test_an_effect_that_failed_has_no_after():
    body = "try:\n    with effect('ref.land'):\n        raise OSError\nexcept OSError:\n    pass"
    assert run(body, GRACE_CRASH_AT="ref.land.after").stdout == "alive\n"


def test_without_the_variable_the_killing_part_is_not_even_loaded():
    body = "with effect('ref.land'):\n    pass\nprint('sandbox.crash' in sys.modules)"
    env = {name: value for name, value in os.environ.items() if name != "GRACE_CRASH_AT"}
    assert run(body, **env).stdout == "False\nalive\n"


@pytest.mark.parametrize("wrong", ["", "ref.land", "ref.nowhere.before", "ref.land.before:0", "ref.land.before:x"])
def test_a_wrong_point_is_refused_with_the_list(wrong, monkeypatch):
    monkeypatch.setenv("GRACE_CRASH_AT", wrong)
    with pytest.raises(UsageError, match="names no fault point") as caught:
        check_crash_point()
    assert all(point in caught.value.hint for point in crash.points())


def test_a_point_that_is_never_reached_is_no_mistake(monkeypatch):
    monkeypatch.setenv("GRACE_CRASH_AT", "none")
    check_crash_point()
    assert run("with effect('ref.land'):\n    pass", GRACE_CRASH_AT="none").stdout == "alive\n"
