"""The rows: what went wrong for people who run coding agents in parallel. Each has a test of its name.

A   work is never lost: A1 killed with unfinished edits, A2 what clean keeps, A3 clean beside a live run, A5 a second
    run beside an unmerged one, A6 a file that was not committed, A7 a detached commit, A8 hooks of the user's, A10 what
    asleep and done mean
B   branches and checkouts: B1 the base is checked out elsewhere, B3 dependent modules start from the tip, B4 a detached
    HEAD, B5 no commit, no repository, a bare one, B6 killed and resumed, B7 a worker's place is gone
C   contents: C1 submodules, C3 odd names, C4 line ends, C6 tracked though ignored, C7 huge and binary output, C8 modes
D   many at once: D1 eight workers, D2 reading beside writing, D3 index locks, D5 cancel, D6 two controllers
E   proof and merge: E1 red only together, E3 tests that go away, E4 false claims, E5 what judges, E6 each gate is
    needed, E8 a merge that was not recorded, E9 forged reports
F   security: F1 rm -rf, F2 patches out of the tree, F3 links, F4 scripts, F5 planted git configuration, F6 no engine,
    F7 network, F8 secrets
G   containers: G1 root and umask, G3 cancel one of two, G4 bombs and hogs
H   crashes: H1 at every boundary, H2 in a later attempt, H3 a worker that ended meanwhile
I   people: I6 two runs ask, I7 a yes to an old tree, I9 a yes that nobody hears
R   seen in rivals: R1 own commits, R2 failed after good work, R3 red after the merge, R4 waiting costs nothing, R5
    every way to end, R6 odd configurations, R7 the user's refs, R8 a repository that looks like ours, R9 one file,
    R10 the same packets, R11 nothing was verified
"""

import re
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parents[1]
ROWS = re.findall(r"\b([A-IR]\d+)\b", __doc__)
NAMES = [
    name
    for path in TESTS.rglob("test_*.py")
    for name in re.findall(r"^\s*(?:async )?def (test_\w+)\(", path.read_text(), re.MULTILINE)
]


def rows_of(name: str) -> list[str]:
    """Return the rows at the head of a test's name: `test_c4_c8_a_patch` -> C4, C8."""
    head = re.match(r"test_((?:[a-z]\d+_)+)", name)
    return head[1].upper().strip("_").split("_") if head else []


@pytest.mark.parametrize("row", ROWS)
def test_each_row_has_a_test_of_its_name(row):
    assert any(row in rows_of(name) for name in NAMES), f"no test is named test_{row.lower()}_…"


def test_each_row_is_listed_once():
    assert len(ROWS) == len(set(ROWS)) == 60
