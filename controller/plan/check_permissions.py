"""Permissions: that each can be kept by who it is for, and that nothing irreversible would be done unasked."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from controller.plan.check_names import modules_at
from controller.plan.keys import did_you_mean
from controller.plan.places import Loc, Places
from packets.agent import PatchAgent
from packets.permissions import Tier
from packets.plan import Module, Plan
from packets.problem import Problem

if TYPE_CHECKING:
    from sandbox.git import Git

_WORKERS = ("read", "write", "execute", "network")


def permission_problems(plan: Plan, places: Places) -> Iterator[Problem]:
    """Return what the plan's own words show; a tier of the plan that fits several modules badly is said once."""
    said: set[Loc] = set()
    for loc, module in modules_at(plan):
        for key in _WORKERS:
            own = getattr(module.permissions, key) is not None
            place: Loc = (*loc, "permissions", key) if own else ("permissions", key)
            if place not in said and (fault := _fault(plan, module, key)):
                said.add(place)
                yield places.problem(place, "plan.bad_permission", *fault)
    yield from _push(plan, places)


def _fault(plan: Plan, module: Module, key: str) -> tuple[str, str] | None:
    """Say why this worker's tier cannot be kept, and what to write instead."""
    tier, name = getattr(plan.permissions_of(module), key), plan.agent_name(module)
    agent = plan.agents.get(name or "")
    if tier is Tier.DENY and key in {"read", "write"}:
        return f"`{key}: deny` leaves {module.id} nothing to do", f"write `{key}: auto`, or take the module out"
    if tier is Tier.AUTO and key == "network":
        return "`network: auto`: workers have no network in this version", "write `network: deny`"
    if agent is None:  # said elsewhere
        return None
    if tier is Tier.ASK and key != "write":
        what = f"the agent {name} of {module.id} cannot ask in the middle of its work, as `{key}: ask` would have it"
        return what, f"agents of kind {agent.kind} cannot: write `{key}: {'deny' if key == 'network' else 'auto'}`"
    if tier is Tier.DENY and key == "execute" and not isinstance(agent, PatchAgent):
        what = f"the agent {name} of {module.id} is a program, and `execute: deny` lets it run none"
        return what, "write `execute: auto`, or name an agent of kind patch"
    return None


def _push(plan: Plan, places: Places) -> Iterator[Problem]:
    tier = plan.permissions.push
    if tier is Tier.AUTO:
        message = "`push: auto`: a push cannot be undone, so a person is always asked"
        yield places.problem(("permissions", "push"), "plan.bad_permission", message, "write `push: ask`")
    if tier is Tier.DENY and plan.push is not None:
        message = f"the plan pushes to {plan.push}, and its permissions say `push: deny`"
        yield places.problem(("push",), "plan.push_denied", message, "take one of the two out")


def remote_problems(plan: Plan, places: Places, git: "Git") -> Iterator[Problem]:
    """Return what is wrong with the remote in this repository."""
    known = git.remotes() if plan.push is not None else ()
    if plan.push is not None and plan.push not in known:
        hint = did_you_mean(plan.push, known)
        hint = hint or (f"known: {', '.join(known)}" if known else f"add it: git remote add {plan.push} URL")
        message = f"the repository has no remote {plan.push}"
        yield places.problem(("push",), "plan.unknown_remote", message, hint)


def permission_notes(plan: Plan, places: Places) -> Iterator[Problem]:
    """Note what is asked about whatever the command line says."""
    for key, given in (("push", plan.push), ("on_landed", plan.on_landed)):
        if given:
            message = f"`{key}` cannot be undone: after each landing a person is asked, also under `--yes`"
            yield places.problem((key,), "plan.always_asked", message, on_key=True, severity="note")
