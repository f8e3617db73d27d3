"""Control groups: limits that hold, groups that any later process finds and removes."""

import os
import subprocess
from uuid import uuid4

import pytest

from packets.limits import Limits
from sandbox.cgroup import CONTROLLERS, Cgroups


@pytest.fixture
def cgroups() -> Cgroups:
    found = Cgroups.find()
    if found.controllers != frozenset(CONTROLLERS):
        if os.geteuid() == 0:
            pytest.fail(f"root, and yet not writable: {set(CONTROLLERS) - found.controllers}")
        pytest.skip("NOT TESTED: this user may not write control groups")
    return found


def test_what_a_dead_process_left_is_found_killed_and_removed(cgroups: Cgroups) -> None:
    run, name = f"c{uuid4().hex[:8]}", f"n{uuid4().hex[:8]}"
    group = cgroups.make(run, name, Limits(pids=20))
    child = subprocess.Popen(["sleep", "100"])
    group.add(child.pid)
    later = Cgroups.find()
    assert later.names(run) == (name,)
    assert later.names(f"{run}x") == ()
    later.discard(name)
    assert child.wait(5) == -9
    assert later.names(run) == ()
    later.discard(name)


def test_making_a_group_again_replaces_what_was_left(cgroups: Cgroups) -> None:
    run, name = f"c{uuid4().hex[:8]}", f"n{uuid4().hex[:8]}"
    cgroups.make(run, name, Limits())
    again = cgroups.make(run, name, Limits(memory=64 << 20))
    assert again.pids_hits() == 0
    assert again.oom_kills() == 0
    again.close()
    again.close()
    assert cgroups.names(run) == ()
