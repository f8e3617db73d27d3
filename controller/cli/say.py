"""grace say: a person's words for one module, or for all that still work."""

import sys

from controller.cli.opened import opened
from controller.lock import SUPERVISOR, lease
from controller.standing import actor, whole
from controller.store.store import OVER, RunRecord, Store, fresh_id
from packets.errors import UsageError
from packets.events import Event, EventType
from packets.states import FINAL, ModuleState

_LONGEST = 4000
"""Characters; a packet carries every message by value."""


def say(wanted: str, words: list[str]) -> None:
    """Leave a message; it is stored first, and counts also when no controller runs."""
    module, text = (words[0], words[1]) if len(words) > 1 else ("", words[0])
    if len(words) > 2:  # noqa: PLR2004 - a module and a text
        raise UsageError("more than a module and a message", 'put the message in quotes: grace say RUN MODULE "…"')
    with opened(wanted) as (git, store, run):
        text = whole(text.strip())
        state = _refuse(store, run, module, text)
        data = {"id": fresh_id(), "text": text}
        store.post(run.run_id, Event(type=EventType.SAID, module=module, actor=actor(), data=data))
        folder = git.roots.run(run.run_id)
        live = lease(folder) or lease(folder, SUPERVISOR)
        then = "" if live else f"; it counts when the run goes on: grace resume {run.run_id}"
        sys.stdout.write(f"{_promise(module, state)}{then}\n")


def _refuse(store: Store, run: RunRecord, module: str, text: str) -> str:
    """Return the module's state; raises UsageError where nobody would hear it."""
    if not text:
        raise UsageError("an empty message says nothing", 'grace say RUN MODULE "…"')
    if len(text) > _LONGEST:
        raise UsageError(f"the message has {len(text)} characters, and a packet carries up to {_LONGEST}", "shorten it")
    if run.state in OVER:
        raise UsageError(f"run {run.run_id} is over: {run.state}", "put it into the plan, and run that")
    states = {row["module"]: str(row["state"]) for row in store.modules(run.run_id)}
    names = [known.id for known in run.parsed_plan.modules()]
    if not module and text in names:
        raise UsageError(f"nothing is said to {text}", f'say what: grace say {run.run_id} {text} "…"')
    if module and module not in names:
        raise UsageError(f"{module!r} is no module of run {run.run_id}", f"its modules: {', '.join(names)}")
    if states.get(module) in FINAL:
        raise UsageError(f"{module} is {states[module]}: no attempt follows", "put it into a plan of its own")
    return states.get(module, "")


def _promise(module: str, state: str) -> str:
    if not module:
        return "told all modules that still work: their next attempts hear it"
    if state == ModuleState.ASLEEP:
        return f"told {module}, which wakes: a new attempt hears it"
    return f"told {module}: nothing of it is accepted that has not heard it"
