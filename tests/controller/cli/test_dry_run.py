"""grace run --dry-run shows what the rest of the command line makes of the run."""

import pytest

ONE = {"A": {"writes": {"src/a.txt": "a"}}}


@pytest.mark.parametrize(("profile", "asks"), [("safe", True), ("balanced", True), ("fast", False), (None, True)])
def test_the_profile_and_the_sandbox_are_those_of_the_command_line(world, profile, asks):
    world.plan(ONE)
    given = ["--profile", profile] if profile else []
    said = world.run("--dry-run", *given).exits(0).out
    assert f"profile {profile or 'balanced'}:" in said
    assert "sandbox memory" in said
    merges = [line for line in said.splitlines() if line.strip().startswith("?") and "lands" not in line]
    assert bool(merges) is asks
