"""The JSON Schemas that ship with grace: editors complete plans from them, tests hold our own files against them.

`python -P -m controller.plan.schema` writes them and docs/plan.md again after a change of the models.
"""

import json
import sys
from pathlib import Path
from typing import Any

from packets.packet import ExecutionPacket
from packets.plan import Plan

_DRAFT = "https://json-schema.org/draft/2020-12/schema"


def plan_schema() -> dict[str, Any]:
    """Return the schema of a plan file."""
    return {"$schema": _DRAFT, "title": "A plan of grace", **_tidy(Plan.model_json_schema())}


def packet_schema() -> dict[str, Any]:
    """Return the schema of a packet file."""
    body = _tidy(ExecutionPacket.model_json_schema())
    definitions = {**body.pop("$defs"), "ExecutionPacket": body}
    return {
        "$schema": _DRAFT,
        "title": "An execution packet of grace",
        "type": "object",
        "properties": {"execution_packet": {"$ref": "#/$defs/ExecutionPacket"}},
        "required": ["execution_packet"],
        "additionalProperties": False,
        "$defs": dict(sorted(definitions.items())),
    }


def files() -> dict[str, str]:
    """Return the content of each generated file, by its path in the project."""
    from controller.plan.reference import reference

    return {
        "packets/schema/plan.schema.json": _text(plan_schema()),
        "packets/schema/packet.schema.json": _text(packet_schema()),
        "docs/plan.md": reference(plan_schema()),
    }


def shipped() -> str:
    """Return the plan's schema as it was installed with grace."""
    from importlib.resources import files as resources

    return (resources("packets") / "schema" / "plan.schema.json").read_text(encoding="utf-8")


def _text(schema: dict[str, Any]) -> str:
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"


def _tidy(schema: Any) -> Any:
    """Leave out titles, which only repeat the keys, and defaults that say nothing: null and whole sub-objects."""
    if isinstance(schema, list):
        return [_tidy(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    tidy = {
        key: {name: _tidy(value) for name, value in part.items()} if key in ("properties", "$defs") else _tidy(part)
        for key, part in schema.items()
        if not (key == "title" and isinstance(part, str)) and not (key == "default" and isinstance(part, dict | None))
    }
    return {"type": "string", **tidy} if "pattern" in tidy else tidy


def main() -> None:
    """Write every generated file of the project."""
    root = Path(__file__).resolve().parents[2]
    for name, content in files().items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(content, encoding="utf-8")
        sys.stdout.write(f"wrote {name}\n")


if __name__ == "__main__":
    main()
