"""One attempt: a packet goes into a sandbox, a tree and a report come back.

    agent refuses? -> workspace -> job runs -> container removed -> tree harvested, report read

The container is gone before the harvest, so that nothing can write late. Everything is repeatable under the same
packet: what is running is adopted where the engine can, what has ended is harvested again, and the workspace stays
until `discard_attempt`, which the caller calls when the tree hangs on a ref.
"""

import os
from collections.abc import Callable
from pathlib import Path

import yaml
from pydantic import TypeAdapter

from packets.errors import GraceError
from packets.ids import slug
from packets.outcome import AttemptOutcome, StopReason
from packets.packet import ExecutionPacket
from sandbox.effect import effect
from sandbox.faults import disk_full, is_full
from sandbox.git import Git
from sandbox.protocol import GRACE, REPO, Ending, Job, Sandbox
from sandbox.workspace import Workspace, discard, harvest, opened, prepare
from worker.agents.choose import agent_for
from worker.agents.protocol import Agent
from worker.report import read_report, read_tail

_OUTLIVING = frozenset({"docker"})  # engines whose jobs live on when we die, so that `start` adopts them
_ENDING = TypeAdapter(Ending)
_ROOM = 512  # bytes; more than an ending takes


def job_name(run_id: str, module_id: str, attempt: int, purpose: str) -> str:
    """Name a sandbox; the same for the same run, module, attempt and purpose."""
    return f"grace-{run_id}-{slug(module_id)}-{attempt}-{purpose}"


def attempt(
    packet: ExecutionPacket,
    *,
    git: Git,
    sandbox: Sandbox,
    image: str,
    patch: Path | None,
    cancelled: Callable[[], bool],
    rescue: Callable[[str], object] | None = None,
    text: str = "",
) -> AttemptOutcome:
    """Run the packet's agent once and return what it left.

    `rescue` is called with the tree of an earlier worker that died with unfinished edits, before they make place; it
    has to hang the tree on a ref. Without it such edits raise GraceError. `text` is the packet as YAML, when the caller
    has it. Raises MachineLacks, EngineLost.
    """
    agent = agent_for(packet, patch)
    if refusal := agent.refusal(packet, git):
        return AttemptOutcome(
            head_tree=packet.base.tree, exit_code=None, refusal=refusal, image=image, engine=sandbox.name
        )
    folder = _folder(packet, git)
    job_id = job_name(packet.run_id, packet.module_id, packet.attempt, "work")
    _make_place(packet, git, sandbox, job_id, rescue)
    workspace = prepare(git, packet, sandbox, folder, yaml=text or _yaml(packet), files=agent.files)
    job = _job(packet, agent, workspace, image, git.roots.logs(packet.run_id))
    ending = _ended(folder) or _run(sandbox, job, folder, cancelled)
    sandbox.remove(job_id)
    return _outcome(git, workspace, job, ending, sandbox.name)


def discard_attempt(packet: ExecutionPacket, *, git: Git, sandbox: Sandbox) -> None:
    """Remove sandbox and workspace; call it when the outcome's tree hangs on a ref. Idempotent."""
    sandbox.remove(job_name(packet.run_id, packet.module_id, packet.attempt, "work"))
    discard(_folder(packet, git))


def workspace_of(packet: ExecutionPacket, git: Git) -> Workspace | None:
    """Return the packet's workspace while it lies there."""
    return opened(_folder(packet, git))


def left_behind(packet: ExecutionPacket, *, git: Git, sandbox: Sandbox) -> str | None:
    """Stop the packet's worker, if it still runs, and return the tree it left; None without a workspace."""
    sandbox.remove(job_name(packet.run_id, packet.module_id, packet.attempt, "work"))
    workspace = workspace_of(packet, git)
    return harvest(git, workspace).tree if workspace else None


def _folder(packet: ExecutionPacket, git: Git) -> Path:
    return git.roots.work(packet.run_id, packet.module_id, packet.attempt)


def _make_place(
    packet: ExecutionPacket, git: Git, sandbox: Sandbox, job_id: str, rescue: Callable[[str], object] | None
) -> None:
    """Keep what a worker that died left unfinished, and clear its workspace: a worker starts fresh or is adopted."""
    folder = _folder(packet, git)
    workspace = opened(folder)
    if workspace is None:
        sandbox.remove(job_id)  # what still works in a folder that is gone works for nobody
        return
    if not _started(folder).exists() or _ended(folder):
        return
    if sandbox.name in _OUTLIVING and job_id in sandbox.remaining(packet.run_id):
        return
    tree = left_behind(packet, git=git, sandbox=sandbox)
    if tree is not None and tree != workspace.base_tree:
        if rescue is None:
            raise GraceError(f"{folder} holds unfinished work of a worker that died", "keep it or `grace clean` it")
        rescue(tree)
    discard(folder)


def _run(sandbox: Sandbox, job: Job, folder: Path, cancelled: Callable[[], bool]) -> Ending:
    job.log.parent.mkdir(parents=True, exist_ok=True)
    with effect("job.mark"):
        _started(folder).touch()
        _room(folder).write_bytes(b" " * _ROOM)
    sandbox.start(job)
    ending = sandbox.wait(job, cancelled)
    if ending.reason is StopReason.EXITED and ending.exit_code != 0 and is_full(folder):
        sandbox.remove(job.name)  # it must not be adopted, and its end taken for the worker's own
        raise disk_full(folder, "the worker gave up meanwhile")  # its own disk limit has a reason of its own
    with effect("job.end"):
        _keep(folder, ending)
    return ending


def _keep(folder: Path, ending: Ending) -> None:
    """Note how the job ended, in room that was taken before it began: a disk that is full by now costs no work."""
    with _room(folder).open("r+b") as file:
        file.write(_ENDING.dump_json(ending).ljust(_ROOM))
        file.flush()
        os.fsync(file.fileno())
    _room(folder).replace(folder / "ended.json")


def _room(folder: Path) -> Path:
    return folder / "ended.json.room"


def _started(folder: Path) -> Path:
    return folder / "started"


def _ended(folder: Path) -> Ending | None:
    """Return how the job ended, if it did and we saw it."""
    try:
        return _ENDING.validate_json((folder / "ended.json").read_bytes())
    except (FileNotFoundError, ValueError):  # damaged: it is waited for again, or its edits are kept and it runs anew
        return None


def _job(packet: ExecutionPacket, agent: Agent, workspace: Workspace, image: str, logs: Path) -> Job:
    return Job(
        run_id=packet.run_id,
        name=job_name(packet.run_id, packet.module_id, packet.attempt, "work"),
        argv=agent.argv,
        log=logs / f"{slug(packet.module_id)}--{packet.attempt}.log",
        mounts=workspace.mounts,
        env={**agent.env, **_variables(packet)},
        labels=_labels(packet),
        limits=packet.limits,
        deadline=float(packet.limits.deadline),
        image=image,
    )


def _variables(packet: ExecutionPacket) -> dict[str, str]:
    return {
        "GRACE_REPO": REPO,
        "GRACE_PACKET": f"{GRACE}/packet.yaml",
        "GRACE_PACKET_JSON": f"{GRACE}/packet.json",
        "GRACE_IN": f"{GRACE}/in",
        "GRACE_OUT": f"{GRACE}/out",
        "GRACE_RUN": packet.run_id,
        "GRACE_MODULE": packet.module_id,
        "GRACE_ATTEMPT": str(packet.attempt),
    }


def _labels(packet: ExecutionPacket) -> dict[str, str]:
    return {
        "grace.run": packet.run_id,
        "grace.module": packet.module_id,
        "grace.attempt": str(packet.attempt),
        "grace.kind": "work",
        "grace.packet": packet.packet_id,
    }


def _outcome(git: Git, workspace: Workspace, job: Job, ending: Ending, engine: str) -> AttemptOutcome:
    tree, anomalies = harvest(git, workspace)
    report, fault = read_report(workspace.out)
    return AttemptOutcome(
        head_tree=tree,
        exit_code=ending.exit_code,
        reason=ending.reason,
        duration=ending.duration,
        report=report,
        report_fault=fault,
        anomalies=anomalies,
        log=str(job.log),
        tail=read_tail(job.log),
        image=job.image,
        engine=engine,
    )


def _yaml(packet: ExecutionPacket) -> str:
    document = {"execution_packet": packet.model_dump(mode="json")}
    return yaml.safe_dump(document, sort_keys=False, allow_unicode=True, width=120)
