"""Patience with a machine that is weak for a moment: the step is done again, later and later; then a person is told.

What counts as a moment of weakness is said in one place, `sandbox.faults`. Pauses follow "full jitter": each is drawn
between nothing and a bound that doubles, so that many steps that failed together do not all come back together
(https://aws.amazon.com/blogs/architecture/exponential-backoff-and-jitter/). Deadlines and the limits of iterations and
attempts are no faults, and are never waited out.
"""

import os
import random
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

from controller.engine import Steps
from packets.errors import Transient
from sandbox.faults import transient

T = TypeVar("T")
Tell = Callable[[str], object]

PATIENCE = 60.0
"""Seconds after the first fault until it is a matter for a person; the environment's GRACE_PATIENCE goes before it."""
_FIRST, _LONGEST = 1.0, 16.0  # seconds: the bound of the first pause, and of every later one
_LOOK = 0.1  # seconds between two looks whether the step is still wanted


def patient(
    step: Steps, unwanted: Callable[[], bool], tell: Tell = lambda _said: None, where: Path | None = None
) -> Steps:
    """Return `step` with its work tried again after a transient fault; every step can be cut off and done again."""

    def tried(name: str, work: Callable[[], T]) -> T:
        return step(name, lambda: insist(work, unwanted, tell, where))

    return tried


def insist(work: Callable[[], T], unwanted: Callable[[], bool], tell: Tell, where: Path | None = None) -> T:
    """Return what `work` gives; raises Transient once patience is over or nobody wants the work any more.

    `where` is what the work writes to, where the fault itself does not say. `tell` hears of each further try.
    """
    pauses = _pauses()
    while True:
        try:
            return work()
        except Exception as fault:
            weak = transient(fault, where)
            if weak is None:
                raise
            pause = next(pauses, None)
            if pause is None or not _waited(pause, weak, unwanted, tell):
                raise weak from fault


def patience() -> float:
    """Return the seconds that a fault is waited out."""
    try:
        return max(0.0, float(os.environ.get("GRACE_PATIENCE", PATIENCE)))
    except ValueError:
        return PATIENCE


def _pauses() -> Iterator[float]:
    """Give pauses that grow until patience is over; the last one ends at that moment, so that it is no lottery."""
    over, bound = time.monotonic() + patience(), _FIRST
    while (left := over - time.monotonic()) > 0:
        yield min(random.uniform(0.0, bound), left)  # noqa: S311 - no secret
        bound = min(2 * bound, _LONGEST)


def _waited(pause: float, weak: Transient, unwanted: Callable[[], bool], tell: Tell) -> bool:
    if unwanted():
        return False
    tell(f"{weak.message}; trying again in {pause:.1f} s")
    until = time.monotonic() + pause
    while (left := until - time.monotonic()) > 0:
        if unwanted():
            return False
        time.sleep(min(_LOOK, left))
    return not unwanted()
