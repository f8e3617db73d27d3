"""The generated files are current, complete, and true of our own plans and packets."""

import json
import re
from pathlib import Path

import jsonschema
import pytest
import yaml
from pydantic import BaseModel, TypeAdapter

from controller.plan.load import load_plan
from controller.plan.reference import CODES
from controller.plan.schema import files, packet_schema, plan_schema, shipped
from packets.agent import CommandAgent, PatchAgent
from packets.packet import AgentChoice, Base, ExecutionPacket
from packets.plan import Plan

ROOT = Path(__file__).resolve().parents[3]
PLAN = jsonschema.Draft202012Validator(plan_schema())
PACKET = jsonschema.Draft202012Validator(packet_schema())


@pytest.mark.parametrize("name", sorted(files()))
def test_generated_files_are_current(name):
    assert (ROOT / name).read_text(encoding="utf-8") == files()[name], "run: python -P -m controller.plan.schema"


def test_the_shipped_schema_is_that_of_the_plan():
    assert json.loads(shipped()) == plan_schema()


def test_both_are_schemas():
    jsonschema.Draft202012Validator.check_schema(plan_schema())
    jsonschema.Draft202012Validator.check_schema(packet_schema())


def models(model, seen):
    """Find every model that a plan is made of."""
    for field in model.model_fields.values():
        for found in re.findall(r"\w+", str(field.annotation)):
            kind = next((k for k in BaseModel.__subclasses__()[0].__subclasses__() if k.__name__ == found), None)
            if kind is not None and kind not in seen:
                seen.append(kind)
                models(kind, seen)
    return seen


def test_every_key_of_a_plan_is_described():
    found = models(Plan, [Plan, CommandAgent, PatchAgent])
    missing = [
        f"{model.__name__}.{name}"
        for model in found
        for name, field in model.model_fields.items()
        if not field.description
    ]
    assert missing == []
    text = files()["docs/plan.md"]
    listed = set(re.findall(r"^\| `([a-z_]+)`", text, re.MULTILINE))
    assert {field.alias or name for model in found for name, field in model.model_fields.items()} <= listed
    assert len(found) >= 13


@pytest.mark.parametrize("path", sorted(ROOT.glob("examples/*/plan*.yaml")), ids=lambda path: path.parent.name)
def test_our_examples_are_valid(path):
    assert list(PLAN.iter_errors(yaml.safe_load(path.read_text()))) == []
    load_plan(path)


def test_the_plan_of_the_reference_is_valid(desk):
    text = re.search(r"```yaml\n(.*?)```", files()["docs/plan.md"], re.DOTALL)[1]
    assert list(PLAN.iter_errors(yaml.safe_load(text))) == []
    (desk.folder / "patches").mkdir()
    (desk.folder / "patches" / "engine.diff").touch()
    assert desk.errors(text) == []


@pytest.mark.parametrize(
    "bad",
    [
        {"colour": "red"},
        {"version": 2},
        {"name": "a b"},
        {"sandbox": "vm"},
        {"land": "main"},
        {"phases": []},
        {"agents": {"a": {"kind": "dance"}}},
        {"agents": {"a": {"kind": "patch"}}},
        {"defaults": {"limits": {"pids": "many"}}},
    ],
)
def test_the_schema_refuses_what_the_plan_refuses(desk, plan, bad):
    given = {**plan({"A": {}}), **bad}
    assert list(PLAN.iter_errors(given))
    assert desk.refused(given)


@pytest.mark.parametrize(
    "good", [{"land": "base"}, {"land": {"branch": "next"}}, {"approval_timeout": 60}, {"modules_map": {"A/B": ["x/"]}}]
)
def test_the_schema_takes_what_the_plan_takes(desk, plan, good):
    given = {**plan({"A": {}}), **good}
    assert list(PLAN.iter_errors(given)) == []
    desk.load(given)


def test_packets_are_valid():
    packet = ExecutionPacket(
        run_id="r",
        phase="p",
        wave=1,
        attempt=1,
        base=Base(commit="c", tree="t"),
        plan_digest="sha256:x",
        module_id="A",
        purpose="x",
        write_scope=("a/",),
        agent=AgentChoice(name="a", spec=TypeAdapter(CommandAgent).validate_python({"kind": "command", "run": ("x",)})),
    ).stamped()
    body = {"execution_packet": packet.model_dump(mode="json")}
    assert list(PACKET.iter_errors(body)) == []
    assert list(PACKET.iter_errors({**body, "more": 1}))
    del body["execution_packet"]["agent"]
    assert list(PACKET.iter_errors(body))


def test_every_code_is_in_the_reference():
    """Codes are stable: each one that the code can say is listed, and none that it cannot."""
    source = "".join(
        path.read_text() for path in (ROOT / "controller" / "plan").glob("*.py") if path.name != "reference.py"
    )
    said = set(re.findall(r'"(plan\.[a-z_]+)"', source)) - {"plan.patch", "plan.dockerfile", "plan.schema"}
    said |= {f"plan.{what}_{how}" for what in ("patch", "dockerfile") for how in ("missing", "outside")}
    assert said == set(CODES)
