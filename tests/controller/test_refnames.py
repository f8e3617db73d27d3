"""Every ref carries the run's id, and no two kinds share a folder."""

from controller import refnames


def test_names():
    assert refnames.integration("r1") == "refs/heads/grace/r1/integration"
    assert refnames.attempt("r1", "A/B", 2) == "refs/heads/grace/r1/A/B/attempt-2"
    assert refnames.rescue("r1", "A/B", 2) == "refs/grace/rescue/r1/A/B/2"
    assert refnames.kept("r1") == "refs/grace/runs/r1/"
    for inside, prefix in [
        (refnames.integration("r1"), refnames.branches("r1")),
        (refnames.attempt("r1", "A", 1), refnames.branches("r1")),
        (refnames.rescue("r1", "A", 1), refnames.rescues("r1")),
    ]:
        assert inside.startswith(prefix)
