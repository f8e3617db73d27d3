"""The outline of a plan as text, JSON, Mermaid or DOT."""

import json
from collections.abc import Callable, Iterator
from typing import Any

_SHOWN = 4
"""Entries of a scope that a diagram shows."""


def text(shown: dict[str, Any]) -> str:
    """Return the outline to be read."""
    return "\n".join(_lines(shown)) + "\n"


def _lines(shown: dict[str, Any]) -> Iterator[str]:
    waves = [wave for phase in shown["phases"] for wave in phase["waves"]]
    sizes = (_many(len(_modules(shown)), "module"), _many(len(waves), "wave"), _many(len(shown["phases"]), "phase"))
    yield f"{shown['name']}: {', '.join(sizes)}"
    yield f"  from {shown['base'] or 'the branch that is checked out'}, sandbox {shown['sandbox']}"
    yield f"  profile {shown['profile']}: a person is asked {shown['asked']}"
    for phase in shown["phases"]:
        yield f"\nphase {phase['id']}"
        for wave in phase["waves"]:
            yield f"  wave {wave['number']}"
            for module in wave["modules"]:
                yield from _module(module)
            yield from (f"    ? asks {question}" for question in wave["asks"])
        yield from (f"  check: {check}" for check in (*phase["wave_checks"], *phase["checks"]))
        yield from (f"  ? asks {question}" for question in phase["asks"])


def _many(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"


def _module(module: dict[str, Any]) -> Iterator[str]:
    yield f"    {module['id']}{' (optional)' if module['optional'] else ''}: {' '.join(module['purpose'].split())}"
    yield f"      why here: {module['reason'].removeprefix(module['id'] + ': ')}"
    yield f"      may write: {', '.join(module['write_scope'])}"
    yield f"      agent: {module['agent']} {module['does']}, {_many(module['attempts'], 'attempt')} at most"
    if module["checks"]:
        yield f"      checks: {'; '.join(module['checks'])}"
    deltas = [*module["expected_deltas"]["graph"], *module["expected_deltas"]["verification"]]
    if deltas:
        yield f"      expects: {'; '.join(deltas)}"


def as_json(shown: dict[str, Any]) -> str:
    """Return the outline as one JSON object."""
    return json.dumps(shown, indent=2, ensure_ascii=False) + "\n"


def mermaid(shown: dict[str, Any]) -> str:
    """Return a Mermaid flowchart: a box a wave, an arrow to what waits."""
    lines, names = ["flowchart LR"], _names(shown)
    for phase in shown["phases"]:
        for wave in phase["waves"]:
            lines.append(f'  subgraph w{wave["number"]}["wave {wave["number"]}, phase {phase["id"]}"]')
            for module in wave["modules"]:
                label = "<br/>".join(map(_entity, _label(module)))
                lines.append(f'    {names[module["id"]]}["{label}"]')
            lines.append("  end")
    lines += [f'  {names[name]}(["{_entity(name)}"])' for name in _existing(shown)]
    lines += [f"  {names[source]} --> {names[target]}" for source, target in _edges(shown)]
    return "\n".join(lines) + "\n"


def dot(shown: dict[str, Any]) -> str:
    """Return a Graphviz digraph: a cluster a wave, an arrow to what waits."""
    lines, names = [f"digraph {_quoted(shown['name'])} {{", "  rankdir=LR;", "  node [shape=box];"], _names(shown)
    for phase in shown["phases"]:
        for wave in phase["waves"]:
            title = _quoted(f"wave {wave['number']}, phase {phase['id']}")
            lines.append(f"  subgraph cluster_w{wave['number']} {{ label={title};")
            lines += [f"    {names[m['id']]} [label={_quoted(*_label(m))}];" for m in wave["modules"]]
            lines.append("  }")
    lines += [f"  {names[name]} [label={_quoted(name)}, style=rounded];" for name in _existing(shown)]
    lines += [f"  {names[source]} -> {names[target]};" for source, target in _edges(shown)]
    return "\n".join([*lines, "}"]) + "\n"


FORMATS: dict[str, Callable[[dict[str, Any]], str]] = {"text": text, "json": as_json, "mermaid": mermaid, "dot": dot}


def _modules(shown: dict[str, Any]) -> list[dict[str, Any]]:
    return [module for phase in shown["phases"] for wave in phase["waves"] for module in wave["modules"]]


def _existing(shown: dict[str, Any]) -> list[str]:
    """Return what modules depend on that is no module of the plan."""
    planned = {module["id"] for module in _modules(shown)}
    return list(
        dict.fromkeys(name for module in _modules(shown) for name in module["depends_on"] if name not in planned)
    )


def _names(shown: dict[str, Any]) -> dict[str, str]:
    names = [module["id"] for module in _modules(shown)] + _existing(shown)
    return {name: f"m{number}" for number, name in enumerate(names)}


def _edges(shown: dict[str, Any]) -> Iterator[tuple[str, str]]:
    for module in _modules(shown):
        yield from ((wanted, module["id"]) for wanted in dict.fromkeys(module["depends_on"]))


def _label(module: dict[str, Any]) -> list[str]:
    scope = module["write_scope"]
    left = [f"… and {len(scope) - _SHOWN} more"] if len(scope) > _SHOWN else []
    return [module["id"], *scope[:_SHOWN], *left]


def _entity(label: str) -> str:
    """Escape for Mermaid: everything that it or HTML reads becomes a numbered entity."""
    return "".join(char if char.isalnum() or char in " /_.-…," else f"#{ord(char)};" for char in label)


def _quoted(*lines: str) -> str:
    escaped = [line.replace("\\", "\\\\").replace('"', '\\"') for line in lines]
    return '"' + "\\n".join(escaped) + '"'
