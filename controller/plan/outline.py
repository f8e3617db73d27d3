"""A checked plan as one value to show: waves and their reasons, what each module may write, where a person is asked."""

from collections.abc import Iterator
from typing import Any

from controller.plan.places import LoadedPlan
from controller.plan.waves import Wave, waves
from packets.agent import CommandAgent, PatchAgent
from packets.permissions import Tier
from packets.plan import Module, Plan, Profile

_ASKED = {
    Profile.SAFE: "before each module's merge",
    Profile.BALANCED: "once a wave, before its merges",
    Profile.FAST: "",
}
_LANDS = {Tier.ASK: "before each landing", Tier.AUTO: "", Tier.DENY: "to land by hand"}


def outline(loaded: LoadedPlan) -> dict[str, Any]:
    """Return the plan as `grace plan show --format json` prints it."""
    plan = loaded.plan
    computed = waves(plan)
    return {
        "name": plan.name,
        "digest": loaded.digest,
        "base": plan.base,
        "land": plan.land.branch or "base",
        "sandbox": plan.sandbox.value,
        "profile": plan.defaults.profile.value,
        "asked": _asked(plan),
        "permissions": plan.permissions.model_dump(mode="json"),
        "push": plan.push,
        "on_landed": list(plan.on_landed),
        "phases": [
            {
                "id": phase.id,
                "checks": list(phase.checks),
                "wave_checks": list(phase.wave_checks),
                "waves": [_wave(plan, wave) for wave in computed if wave.phase == phase.id],
                "asks": list(_at_the_end(plan, phase.id)),
            }
            for phase in plan.phases
        ],
    }


def _wave(plan: Plan, wave: Wave) -> dict[str, Any]:
    modules = [_module(plan, plan.module(name), why) for name, why in zip(wave.modules, wave.reasons, strict=True)]
    return {"number": wave.number, "modules": modules, "asks": list(_questions(plan, wave))}


def _asked(plan: Plan) -> str:
    """Say in a line when a person is asked."""
    written = any(plan.permissions_of(module).write is Tier.ASK for module in plan.modules())
    some = "before some modules' merges" if written and plan.defaults.profile is not Profile.SAFE else ""
    pushed = "before each push" if plan.push else ""
    hooked = "before each landing hook" if plan.on_landed else ""
    parts = [p for p in (_ASKED[plan.defaults.profile], some, _LANDS[plan.permissions.land], pushed, hooked) if p]
    return " and ".join([", ".join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts) or "nothing"


def _questions(plan: Plan, wave: Wave) -> Iterator[str]:
    profile = plan.defaults.profile
    alone = [
        n for n in wave.modules if plan.permissions_of(plan.module(n)).write is Tier.ASK or profile is Profile.SAFE
    ]
    yield from (f"before {name} is merged" for name in alone)
    if profile is Profile.BALANCED and len(alone) < len(wave.modules):
        yield f"before the merges of wave {wave.number}"


def _at_the_end(plan: Plan, phase: str) -> Iterator[str]:
    """Say what is asked at a phase's end; what cannot be undone is asked about whatever the command line says."""
    if plan.permissions.land is Tier.ASK:
        yield f"before phase {phase} lands"
    if plan.permissions.land is Tier.DENY:
        yield f"you to land phase {phase} by hand"
    if plan.push:
        yield f"before phase {phase} is pushed to {plan.push}, also under --yes"
    for command in plan.on_landed:
        yield f"before `{command}` runs when phase {phase} has landed, also under --yes"


def _module(plan: Plan, module: Module, why: str) -> dict[str, Any]:
    limits = plan.limits_of(module)
    name = plan.agent_name(module)
    return {
        "id": module.id,
        "purpose": module.purpose,
        "reason": why,
        "depends_on": list(module.depends_on),
        "write_scope": list(module.write_scope),
        "agent": name,
        "does": _does(plan, name),
        "checks": list(module.verification.module_local_checks),
        "required_markers": list(module.verification.required_markers),
        "expected_deltas": module.expected_deltas.model_dump(mode="json"),
        "attempts": limits.attempts,
        "deadline": limits.deadline,
        "optional": module.optional,
    }


def _does(plan: Plan, name: str | None) -> str:
    agent = plan.agents.get(name or "")
    if isinstance(agent, PatchAgent):
        return f"applies {agent.patch}"
    return f"runs {' '.join(agent.run)}" if isinstance(agent, CommandAgent) else ""
