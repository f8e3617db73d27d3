"""All gates and codes for people and programs: `grace gates`, and docs/gates.md, which a test holds to this."""

import sys
from typing import Any

from reviewer.registry import GATES, REVIEW_CODES

_HEAD = """# Gates

What the reviewer looks at, in this order, before anything is merged. Written by
`python3 -P -m reviewer.listing > docs/gates.md`; a test holds it to the code. `grace gates [--json]` prints the same.

Cheap gates always run, all of them, so that one attempt hears everything at once. Costly ones run only while no error
has been found; a gate that did not run has not passed, and the verdict names it. Every gate may also say
`<gate>.broken`: it could not judge, which counts as a failure. Codes are stable: none is renamed or given another
meaning.
"""


def as_object() -> dict[str, Any]:
    """Return the gates in order, for `--json`."""
    gates = [
        {"name": gate.name, "costly": gate.costly, "codes": [{"code": c, "meaning": m} for c, m in gate.codes.items()]}
        for gate in GATES
    ]
    own = [{"code": c, "meaning": m} for c, m in REVIEW_CODES.items()]
    return {"gates": [*gates, {"name": "review", "costly": False, "codes": own}]}


def as_text() -> str:
    """Return the gates in order, one code a line."""
    width = max(len(code["code"]) for gate in as_object()["gates"] for code in gate["codes"])
    lines = []
    for gate in as_object()["gates"]:
        lines.append(f"{gate['name']}{' (costly)' if gate['costly'] else ''}")
        lines.extend(f"  {code['code']:<{width}}  {code['meaning']}" for code in gate["codes"])
    return "\n".join(lines) + "\n"


def as_markdown() -> str:
    """Return docs/gates.md."""
    pieces = [_HEAD]
    for gate in as_object()["gates"]:
        pieces.append(f"\n## {gate['name']}{', costly' if gate['costly'] else ''}\n\n| code | meaning |\n|---|---|\n")
        pieces.extend(f"| `{code['code']}` | {code['meaning']} |\n" for code in gate["codes"])
    return "".join(pieces)


if __name__ == "__main__":
    sys.stdout.write(as_markdown())
