"""Naming the limit behind an end that a job came to itself."""

import time

import pytest

from packets.outcome import StopReason
from sandbox.protocol import Job
from sandbox.watch import Watch


def ended(tmp_path, said, exit_code, hits=None):
    log = tmp_path / "log"
    if said is not None:
        log.write_bytes(said)
    job = Job(run_id="r", name="n", argv=("x",), log=log)
    watch = Watch(job, began=time.monotonic(), disk_before=0, cancelled=lambda: False, pids_hits=lambda: hits)
    return watch.ended_by(exit_code)


@pytest.mark.parametrize(
    ("said", "exit_code", "hits", "reason"),
    [
        (b"sh: 1: Cannot fork\n", 2, None, StopReason.PIDS),
        (b"bash: fork: retry: Resource temporarily unavailable\n" + b"x" * 1000, 254, 0, StopReason.PIDS),
        (b"RuntimeError: can't start new thread\n", 1, None, StopReason.PIDS),
        (b"sh: 1: Cannot fork\n" + b"x" * 100_000, 2, None, StopReason.EXITED),
        (b"sh: 1: Cannot fork\n", 0, 5, StopReason.EXITED),
        (b"something else\n", 2, 0, StopReason.EXITED),
        (b"", 2, 3, StopReason.PIDS),
        (None, 2, None, StopReason.EXITED),
    ],
)
def test_a_job_that_fails_after_it_was_refused_processes_hit_the_limit(tmp_path, said, exit_code, hits, reason):
    assert ended(tmp_path, said, exit_code, hits) is reason
