"""A checked plan as one value to show: waves and their reasons, what each module may write, where a person is asked."""

from collections.abc import Iterator
from typing import Any

from controller.plan.places import LoadedPlan
from controller.plan.waves import Wave, waves
from packets.agent import CommandAgent, PatchAgent
from packets.plan import Module, Plan, Profile

_ASKED = {
    Profile.SAFE: "before each module's merge and before each landing",
    Profile.BALANCED: "once a wave, before its merges, and before each landing",
    Profile.FAST: "before each landing",
}


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
        "asked": _ASKED[plan.defaults.profile],
        "phases": [
            {
                "id": phase.id,
                "checks": list(phase.checks),
                "wave_checks": list(phase.wave_checks),
                "waves": [_wave(plan, wave) for wave in computed if wave.phase == phase.id],
                "asks": [f"before phase {phase.id} lands"],
            }
            for phase in plan.phases
        ],
    }


def _wave(plan: Plan, wave: Wave) -> dict[str, Any]:
    modules = [_module(plan, plan.module(name), why) for name, why in zip(wave.modules, wave.reasons, strict=True)]
    return {"number": wave.number, "modules": modules, "asks": list(_questions(plan.defaults.profile, wave))}


def _questions(profile: Profile, wave: Wave) -> Iterator[str]:
    if profile is Profile.SAFE:
        yield from (f"before {name} is merged" for name in wave.modules)
    if profile is Profile.BALANCED:
        yield f"before the merges of wave {wave.number}"


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
