"""Whose a container is. A name proves nothing, anybody can take one; the labels that every job of ours carries do."""

from collections.abc import Mapping
from typing import Any

from packets.errors import MachineLacks
from sandbox.protocol import Job

RUN = "grace.run"
JOB = "grace.job"
DISK = "grace.disk"


def labels(job: Job, disk_before: int) -> dict[str, str]:
    """Return what the job's container carries: who it is, and what its mounts held before it."""
    return {**_who(job), DISK: str(disk_before)}


def of(found: Mapping[str, Any]) -> Mapping[str, str]:
    """Return the labels of an inspected container."""
    return found["Config"].get("Labels") or {}


def is_ours(carried: Mapping[str, str], name: str) -> bool:
    """Whether a run made the container of that name; all others are nobody's business here."""
    return bool(carried.get(RUN)) and carried.get(JOB) == name


def check(found: Mapping[str, Any], job: Job) -> None:
    """Raise MachineLacks when the container that has the job's name is another's, or of another packet."""
    carried, wanted = of(found), _who(job)
    wrong = [key for key, value in wanted.items() if carried.get(key) != value]
    if wrong:
        others = f"{' and '.join(wrong)} {'differs' if len(wrong) == 1 else 'differ'}"
        raise MachineLacks(
            f"a container named {job.name} is not this job's ({others if wanted.keys() & carried else 'no label'})",
            f"if nobody needs it: `docker rm --force {job.name}`, then `grace resume {job.run_id}`",
        )


def _who(job: Job) -> dict[str, str]:
    return {**job.labels, RUN: job.run_id, JOB: job.name}
