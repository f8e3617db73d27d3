"""The one table of transitions, against the words of the design."""

import pytest

from packets.states import FINAL, TRANSITIONS, IllegalTransition, ModuleState, step

S = ModuleState

SAID = """
queued    -> working paused cancelled
working   -> waiting asleep failed queued paused cancelled
waiting   -> queued working asleep failed paused cancelled
paused    -> queued cancelled
asleep    -> queued failed done cancelled
done      ->
failed    ->
cancelled ->
"""


def said() -> dict[str, set[str]]:
    lines = (line.partition("->") for line in SAID.strip().splitlines())
    return {before.strip(): set(after.split()) for before, _, after in lines}


@pytest.mark.parametrize("before", list(S))
@pytest.mark.parametrize("after", list(S))
def test_the_table_allows_what_was_said_and_nothing_else(before: ModuleState, after: ModuleState) -> None:
    if after in said()[before]:
        assert step(before, after) is after
    else:
        with pytest.raises(IllegalTransition, match=f"^{before} -> {after}$"):
            step(before, after)


def test_final_is_what_leads_nowhere() -> None:
    assert {state for state, following in TRANSITIONS.items() if not following} == FINAL
    assert set(TRANSITIONS) == set(S)


def test_every_state_is_reached_and_can_come_to_an_end() -> None:
    reached, edge = {S.QUEUED}, [S.QUEUED]
    while edge:
        edge += (found := TRANSITIONS[edge.pop()] - reached)
        reached |= found
    assert reached == set(S)
    assert all(S.CANCELLED in TRANSITIONS[state] for state in set(S) - FINAL)
