"""A permit stands for a stored approval: nobody but the store can make one."""

import dataclasses
from pathlib import Path

import pytest

from packets import permit
from packets.errors import NotPermitted

ROOT = Path(__file__).resolve().parents[2]
ROOMS = ("controller", "worker", "reviewer", "sandbox", "packets")


@pytest.mark.parametrize("seal", [None, object(), "SEAL", True])
def test_nobody_makes_one(seal):
    with pytest.raises(NotPermitted):
        permit.Permit("run", "push:one", "key", "somebody", seal=seal)


def test_one_cannot_be_made_into_another():
    real = permit.Permit("run", "push:one", "key", "somebody", seal=permit.SEAL)
    with pytest.raises((NotPermitted, ValueError)):
        dataclasses.replace(real, run_id="other")
    with pytest.raises(dataclasses.FrozenInstanceError):
        real.run_id = "other"


def test_the_store_alone_holds_the_seal():
    holders = {
        str(path.relative_to(ROOT))
        for room in ROOMS
        for path in (ROOT / room).rglob("*.py")
        if "SEAL" in path.read_text()
    }
    assert holders == {"packets/permit.py", "controller/store/store.py"}
