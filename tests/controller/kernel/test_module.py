"""In which lane a module stands."""

import pytest

from controller.kernel.module import Lane, ModuleStatus
from packets.states import ModuleState

S = ModuleState


@pytest.mark.parametrize(
    ("status", "lane"),
    [
        (ModuleStatus(), Lane.START),
        (ModuleStatus(redo=True), Lane.START),
        (ModuleStatus(accepted=True), Lane.RECALL),
        (ModuleStatus(waits_for="stuck"), Lane.RECALL),
        (ModuleStatus(S.WORKING, running=True), Lane.BUSY),
        (ModuleStatus(S.WORKING, accepted=True), Lane.FRESH),
        (ModuleStatus(S.WORKING, waits_for="blocked"), Lane.STUCK),
        (ModuleStatus(S.WAITING, waits_for="blocked"), Lane.BUSY),
        (ModuleStatus(S.WAITING, accepted=True, waits_for="approval"), Lane.ASKED),
        (ModuleStatus(S.WAITING, accepted=True, waits_for="merge"), Lane.READY),
        (ModuleStatus(S.PAUSED), Lane.BUSY),
        (ModuleStatus(S.PAUSED, accepted=True), Lane.BUSY),
        *((ModuleStatus(state), Lane.REST) for state in (S.ASLEEP, S.DONE, S.FAILED, S.CANCELLED)),
    ],
)
def test_each_status_has_its_lane(status: ModuleStatus, lane: Lane) -> None:
    assert status.lane is lane


def test_a_yes_is_bound_to_tree_and_attempt() -> None:
    assert len({ModuleStatus(attempt=n, head=h).bound for n in (1, 2) for h in "ab"}) == 4
