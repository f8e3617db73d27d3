"""Which keys a plan knows, and what a pydantic error means to the person who wrote the file."""

import difflib
import functools
import json
from collections.abc import Iterable
from typing import Any

from pydantic_core import ErrorDetails

from controller.plan.nodes import Items, Node, Scalar
from controller.plan.places import Loc, Places
from packets.plan import Plan
from packets.problem import Problem

_WANTED = {
    "string_type": "text",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "bool_type": "true or false",
    "tuple_type": "a list",
    "dict_type": "keys with values",
    "model_type": "keys with values",
    "model_attributes_type": "keys with values",
}
_MANY = 300
_TRUTH = {"yes": "true", "on": "true", "y": "true", "no": "false", "off": "false", "n": "false"}


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return a hint that names the nearest known word, or nothing."""
    begins = word[:1].lower()
    known = list(known)
    if len(known) > _MANY:  # comparing is slow: a slip of the first letter is not seen in a crowd
        known = [name for name in known if name[:1].lower() == begins][:_MANY]
    near = difflib.get_close_matches(word[:100], known, n=1, cutoff=0.6)
    return f"did you mean `{near[0]}`?" if near else ""


@functools.cache
def _schema() -> dict[str, Any]:
    return Plan.model_json_schema()


def _forms(schema: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the alternatives that a schema stands for, references followed."""
    if "$ref" in schema:
        return _forms(_schema()["$defs"][schema["$ref"].rpartition("/")[2]])
    choices = [*schema.get("anyOf", ()), *schema.get("oneOf", ())]
    return [form for choice in choices for form in _forms(choice)] if choices else [schema]


def _step(forms: list[dict[str, Any]], step: str | int) -> list[dict[str, Any]]:
    if len(forms) > 1 and (tagged := [form for form in forms if _tag(form) == step]):
        return tagged
    below: list[dict[str, Any]] = []
    for form in forms:
        extra = form.get("additionalProperties")
        if step in form.get("properties", {}):
            below += _forms(form["properties"][step])
        elif isinstance(extra, dict):
            below += _forms(extra)
        elif isinstance(step, int) and "items" in form:
            below += _forms(form["items"])
    return below


def _tag(form: dict[str, Any]) -> object:
    return form.get("properties", {}).get("kind", {}).get("const")


def keys_at(loc: Loc) -> dict[str, Any]:
    """Return the known keys at `loc`, with their schemas."""
    forms = _forms(_schema())
    for step in loc:
        forms = _step(forms, step)
    return {key: value for form in forms for key, value in form.get("properties", {}).items()}


def in_file(loc: Loc) -> Loc:
    """Return pydantic's way without what only pydantic knows: the tag of an agent's kind, and its mark for bad keys."""
    tag = len(("agents", "name")) if loc[:1] == ("agents",) else len(loc)
    return tuple(step for number, step in enumerate(loc) if number != tag and step != "[key]")


def explain(error: ErrorDetails, places: Places) -> Problem:
    """Say one error of pydantic's in the words of the plan, at its place."""
    loc = in_file(error["loc"])
    kind, name = error["type"], _name(loc)
    if kind == "extra_forbidden":
        return _unknown(loc, error["loc"], places)
    if kind in ("missing", "union_tag_not_found"):
        key = str(loc[-1]) if kind == "missing" else "kind"
        holder = loc[:-1] if kind == "missing" else loc
        where = f"`{_name(holder)}` needs" if holder else "the plan needs"
        return places.problem(
            holder, "plan.missing_key", f"{where} the key `{key}`", _missing_hint(error["loc"], key), on_key=True
        )
    if kind == "union_tag_invalid":
        context = error.get("ctx", {})
        tags = str(context.get("expected_tags", "")).replace("'", "")
        hint = did_you_mean(str(context.get("tag", "")), tags.split(", "))
        return places.problem((*loc, "kind"), "plan.bad_value", f"`kind` is one of: {tags}", hint)
    on_key = error["loc"][-1:] == ("[key]",)
    message, hint = _bad_value(error, places.find(loc))
    return places.problem(loc, "plan.bad_value", f"`{name}`: {message}", hint, on_key=on_key)


def _name(loc: Loc) -> str:
    """Name a part of the plan by its nearest key, and which of the list: `notes[2]`, counted from 1."""
    text = ""
    for step in reversed(loc):
        if isinstance(step, str):
            return step[:60] + text
        text = f"[{step + 1}]" + text
    return "plan" + text


def _unknown(loc: Loc, raw: Loc, places: Places) -> Problem:
    known = keys_at(raw[:-1])
    key = str(loc[-1])
    hint = did_you_mean(key, known)
    for name, schema in known.items():
        if not hint and any(key in form.get("properties", {}) for form in _forms(schema)):
            hint = f"it belongs in `{name}`"
    if not hint and len(known) <= 16:  # noqa: PLR2004 - more do not fit into a line
        hint = f"known keys: {', '.join(known)}"
    where = f" in `{_name(loc[:-1])}`" if loc[:-1] else ""
    return places.problem(loc, "plan.unknown_key", f"unknown key `{key[:60]}`{where}", hint, on_key=True)


def _missing_hint(raw: Loc, key: str) -> str:
    examples = keys_at(raw[:-1]).get(key, {}).get("examples")
    return f"for example `{key}: {json.dumps(examples[0])}`" if examples else ""


def _bad_value(error: ErrorDetails, node: Node | None) -> tuple[str, str]:
    kind, context = error["type"], error.get("ctx", {})
    if kind in _WANTED:
        return f"expected {_WANTED[kind]}, got {_what(node)}", _type_hint(kind, node)
    if kind in ("enum", "literal_error"):
        expected = str(context.get("expected", "")).replace("'", "")
        text = node.text if isinstance(node, Scalar) else ""
        return f"expected {expected}, got {_what(node)}", did_you_mean(text, expected.replace(" or ", ", ").split(", "))
    if kind == "value_error":
        return str(context.get("error", error["msg"])), ""
    if kind == "too_short":
        return "expected at least one", ""
    if kind == "string_too_short":
        return "expected some text", ""
    message = error["msg"].replace("Input should", "it should").replace("String should", "it should")
    return message[:1].lower() + message[1:], ""


def _what(node: Node | None) -> str:
    if isinstance(node, Scalar):
        if node.value is None:
            return "nothing"
        kind = {bool: "the truth value", int: "the number", float: "the number"}.get(type(node.value), "the text")
        return f"{kind} {node.text[:60]!r}" if kind == "the text" else f"{kind} {node.text[:60]}"
    return "a list" if isinstance(node, Items) else "keys with values"


def _type_hint(kind: str, node: Node | None) -> str:
    if not isinstance(node, Scalar):
        return ""
    if node.value is None:
        return "give it a value, or leave the key out"
    if kind == "string_type":
        return f'put it in quotes: "{node.text[:60]}"'
    if kind == "tuple_type":
        return f"write [{json.dumps(node.text[:60], ensure_ascii=False)}]"
    if kind == "bool_type" and node.text.lower() in _TRUTH:
        return f"write {_TRUTH[node.text.lower()]}"
    return ""
