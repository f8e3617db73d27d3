"""Everything that grace does to the outside world or to durable state, in one table.

A line says how the effect is taken back, which record says that it is about to happen and which that it happened. Where
one of the two is missing, the line says why doing it again is safe. The source names a line by `effect("name")`
(`sandbox/effect.py`), which is also the place where a test lets the process die; `grace doctor --effects` prints it.
"""

from enum import StrEnum
from typing import NamedTuple


class Reversal(StrEnum):
    """What it takes to undo an effect."""

    READ_ONLY = "read-only"  # nothing to undo
    REVERSIBLE = "reversible"  # grace undoes it, and nobody has seen it
    COMPENSATABLE = "compensatable"  # a further effect makes up for it; it was seen meanwhile
    IRREVERSIBLE = "irreversible"  # nothing takes it back: never without a stored approval


class Effect(NamedTuple):
    """`intent` and `outcome`: which record tells of it before and after; `permission`: a tier of the plan, or empty."""

    name: str
    reversal: Reversal
    what: str
    undone_by: str
    intent: str
    outcome: str
    permission: str


_READ, _BACK, _MADE_UP, _FINAL = (
    Reversal.READ_ONLY,
    Reversal.REVERSIBLE,
    Reversal.COMPENSATABLE,
    Reversal.IRREVERSIBLE,
)
_ACTION = "the action's row"
_EVENT = "the outcome event"
_ATTEMPT = "the attempt's action"
_ITSELF = "itself: all of it or nothing"
_AGAIN = "none: made again when missing, from what is stored"
_FOLDER = "the folder under its final name"

_TABLE = (
    # --- the database of the repository
    Effect("state.create", _BACK, "make state.db", "delete the file",
           "none: tables are made only where missing", _ITSELF, ""),
    Effect("state.write", _BACK, "commit one transaction of state.db", "a later transaction",
           "the write-ahead log", _ITSELF, ""),
    Effect("run.create", _BACK, "write a run down", "grace clean",
           "none: without it there is no run", "the run's row", ""),
    Effect("run.stand", _BACK, "write down how a run stands", "the next word on it",
           "the events, which say the same", "the run's row", ""),
    Effect("run.forget", _MADE_UP, "drop what is stored of a run", "running the plan again",
           "the command of a person; repeated until the row is gone", "the run's row is gone", ""),
    Effect("event.record", _BACK, "store an event, its transitions and the intents that follow", "a further event",
           "the action's row, or the inbox row", "the event's row, once for each action", ""),
    Effect("approval.ask", _BACK, "ask a person", "the question is made void",
           "the ask action's row", "the approvals row, in the same transaction", ""),
    Effect("inbox.post", _BACK, "leave a word for the controller", "a further word",
           "the command of a person, who sees it fail", "the inbox row", ""),
    Effect("packet.store", _BACK, "issue an attempt's packet", "none needed: the first one written stays",
           _ATTEMPT, "the attempts row", ""),
    Effect("outcome.store", _BACK, "store how an attempt ended", "the next attempt", _ATTEMPT, "the attempts row", ""),
    Effect("verdict.store", _BACK, "store the reviewer's verdict", "the next attempt",
           _ATTEMPT, "the attempts row", ""),
    Effect("evidence.store", _BACK, "store a green check of a tree", "none needed: true of that tree for ever",
           _ACTION, "the evidence row", ""),
    Effect("saga.record", _BACK, "write down a step and what undoes it", "the step is marked undone",
           "the action's row; the step is found on the branch again", "the saga row", ""),
    Effect("saga.intend", _BACK, "write down that steps are about to be undone", "the step is marked void",
           "the command of a person", "the saga row", ""),
    Effect("saga.settle", _BACK, "write down what became of an intended step", "none needed",
           "the saga row, intended", "the saga row", ""),
    Effect("saga.replace", _BACK, "mark steps undone and give those that stay their new commits",
           "the merge is made again", _ACTION, "the saga rows", ""),
    # --- the journal of a run
    Effect("journal.open", _BACK, "open the run's journal", "grace clean",
           "none: it is made only where missing", "the file", ""),
    Effect("journal.start", _BACK, "start an action in the journal", "none needed: one of that id is left alone",
           _ACTION, "the journal's row", ""),
    Effect("step.work", _BACK, "carry out one step of an action", "the effects inside say",
           _ACTION, "the journal's step", ""),
    Effect("step.record", _BACK, "record the result of a step", "none needed", _ACTION, "the journal's step", ""),
    # --- files of a run
    Effect("exclude.write", _BACK, "keep .grace out of git status by a line in info/exclude", "delete the line",
           "none: written only where missing", _ITSELF, ""),
    Effect("patch.keep", _BACK, "keep a copy of an agent's patch", "grace clean",
           "none: without the run's row nobody reads it", "the run's row", ""),
    Effect("lock.take", _BACK, "hold a run", "the kernel, when its holder dies",
           "none: held by one process or by none", "the lock itself", ""),
    Effect("copy.packet", _BACK, "write the readable copy of a packet", "grace clean", "the attempts row", _AGAIN, ""),
    Effect("copy.review", _BACK, "write the readable copy of a verdict", "grace clean", "the attempts row", _AGAIN, ""),
    Effect("clock.keep", _BACK, "write down how long a run has worked", "the next time it is written",
           "none: reckoned from the events where it is missing", _ITSELF, ""),
    Effect("fault.note", _BACK, "write down where a fault of grace itself was", "grace clean",
           "none: a help for people only", "run.broken", ""),
    Effect("plan.write", _BACK, "write a starter plan", "delete the file", "the command of a person", "the file", ""),
    Effect("run.remove", _MADE_UP, "remove a run's folders: journal, logs, patches, copies", "running the plan again",
           "the run's row is still there", "the run's row goes after it", ""),
    # --- workspaces
    Effect("folder.appear", _BACK, "give a finished folder its name", "folder.aside", _AGAIN, _FOLDER, ""),
    Effect("folder.aside", _BACK, "take a folder's name away, before it is removed", "made again where needed",
           "its content hangs on a ref, or came from one", "the folder is gone", ""),
    Effect("folder.remove", _BACK, "remove a folder that has no name any more", "made again where needed",
           "its name ends in .aside", "the folder is gone", ""),
    Effect("scratch.make", _BACK, "make a folder for a moment", "swept when its maker is gone",
           "none: found by its name and lock", "none: gone with its use", ""),
    Effect("workspace.prepare", _BACK, "make a worker's folders", "folder.remove",
           "the packet", "workspace.json", "write"),
    Effect("cache.prune", _BACK, "remove shared checkouts that no run needs", "made again where needed",
           "none: a cache", "none: a cache", ""),
    Effect("job.mark", _BACK, "note that a worker is about to start", "folder.remove",
           _ATTEMPT, "the file `started`", ""),
    Effect("job.end", _BACK, "note how a worker ended", "folder.remove",
           "the file `started`", "the file `ended.json`", ""),
    Effect("message.hand_in", _BACK, "lay a person's message into the workspace of a running worker", "folder.remove",
           "message.said", "the report's `heard`; else the next attempt's packet has it", ""),
    Effect("log.keep", _BACK, "put a job's output in its place", "grace clean",
           _ACTION, "none: a help for people; a job that runs again writes it again", ""),
    # --- sandboxes
    Effect("job.start", _BACK, "start a process in a sandbox", "job.remove",
           "the file `started`; a check's action", "the process itself, which dies with grace", "execute"),
    Effect("job.remove", _BACK, "kill what is left of a sandbox and forget it", "the job is started again",
           "its tree is taken after it: nothing can write late", "nothing of its name is left", ""),
    Effect("container.create", _BACK, "make a container", "container.remove",
           "the file `started`; a check's action", "the container, by its name and labels", ""),
    Effect("container.start", _BACK, "start a container", "container.remove",
           "the container, in status created", "the container's own status", "execute"),
    Effect("container.kill", _BACK, "kill a container", "the job is started again",
           "its deadline, a limit or a word of a person", "the container's own status", ""),
    Effect("container.remove", _BACK, "remove a container", "the job is started again",
           "its end is noted, or the run ends", "nothing of its name is left", ""),
    # --- images
    Effect("image.keep", _BACK, "keep a worker image's files", "grace sandbox prune",
           "none: made only where missing", "its key, written last", ""),
    Effect("image.remove", _BACK, "remove a worker image", "made again where needed",
           "the command of a person", "it is listed no more", ""),
    Effect("image.import", _BACK, "load a worker image into docker", "grace sandbox prune",
           "none: made only where missing", "its tag", ""),
    Effect("image.pull", _BACK, "fetch an image from its registry", "docker rmi",
           "none: fetched only where missing", "its name", "network"),
    Effect("image.build", _BACK, "build an image from the plan's Dockerfile", "grace sandbox prune",
           "none: the engine's own cache tells", "its tag", "network"),
    Effect("image.setup", _BACK, "run the plan's setup commands in an image", "folder.remove, setup.remove",
           "none: thrown away unless it came to its end", "the image, made last", "network"),
    Effect("image.commit", _BACK, "make an image of what the setup left", "grace sandbox prune",
           "the container of that name", "its tag", ""),
    Effect("setup.create", _BACK, "make the container that sets up an image, or shows its files", "setup.remove",
           "none: one of its label is removed first", "the container, by its label", ""),
    Effect("setup.remove", _BACK, "remove that container", "made again where needed",
           "the image is made, or will be made again", "nothing of its label is left", ""),
    # --- objects and refs
    Effect("repository.read", _READ, "read the repository", "nothing to undo",
           "none: changes nothing", "none: changes nothing", "read"),
    Effect("tree.import", _BACK, "write what a worker left into git's object store", "git's own garbage collection",
           _ATTEMPT, "the ref of the attempt", ""),
    Effect("tree.merge", _BACK, "merge trees in memory", "git's own garbage collection", _ACTION, "the commit", ""),
    Effect("commit.make", _BACK, "write a commit", "git's own garbage collection",
           _ACTION, "the ref that holds it", ""),
    Effect("ref.attempt", _BACK, "hang a worker's tree on the attempt's branch", "ref.kept",
           _ATTEMPT, "the ref; then the attempts row", ""),
    Effect("ref.rescue", _BACK, "hang what nobody accepted on a rescue ref", "grace clean --force",
           "the attempts row; the folder stays until then", "the ref", ""),
    Effect("ref.unlock", _BACK, "remove the lock that a killed git left on a ref of the run", "none needed",
           "none: nobody else moves those refs", "the lock is gone", ""),
    Effect("ref.begin", _BACK, "make the integration branch", "ref.kept", "the run's row", "the ref", ""),
    Effect("ref.integration", _BACK, "move the integration branch", "the merge is taken back (saga.replace)",
           _ACTION, "the ref; then the saga row", ""),
    Effect("ref.kept", _BACK, "keep a branch of an ended run below refs/grace/runs", "ref.back",
           "the finish action's row", "the ref", ""),
    Effect("ref.away", _BACK, "take an ended run's branch out of refs/heads", "ref.back",
           "its copy below refs/grace/runs", "the ref is gone", ""),
    Effect("ref.back", _BACK, "make a branch of a run that goes on again", "ref.kept",
           "its copy below refs/grace/runs", "the ref", ""),
    Effect("ref.unkept", _BACK, "drop the copy of a branch that is back", "ref.kept",
           "the branch itself", "the ref is gone", ""),
    Effect("ref.drop", _MADE_UP, "drop a ref of a cleaned run", "git fsck --lost-found, until git prunes the objects",
           "the command of a person; the run's row is still there", "the ref is gone", ""),
    # --- what is the user's
    Effect("checkout.land", _MADE_UP, "bring the user's checkout to what lands", "checkout.revert",
           "the landing's action", "the base branch", "land"),
    Effect("ref.land", _MADE_UP, "move the user's base branch to the integration tip", "revert commits (ref.revert)",
           "the landing's action", "the ref; then the saga row", "land"),
    Effect("checkout.revert", _MADE_UP, "bring the user's checkout back", "git revert",
           "the rollback's saga row, intended", "the base branch", "land"),
    Effect("ref.revert", _MADE_UP, "add revert commits to the user's base branch", "git revert",
           "the rollback's saga row, intended", "the ref; then the saga row", "land"),
    Effect("hook.run", _FINAL, "run a command of the plan after a landing", "nothing",
           "the saga row, intended", "the saga row", ""),
    Effect("push", _FINAL, "push to a remote", "nothing: others may have fetched it",
           "the push's action", _EVENT, "push"),
)  # fmt: skip

EFFECTS: dict[str, Effect] = {line.name: line for line in _TABLE}
