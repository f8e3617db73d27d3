"""What the commands print as JSON is what docs/json.md says, block by block."""

import json
import re
import signal
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator
from referencing import Registry, Resource
from referencing.jsonschema import DRAFT202012

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "json.md").read_text()
SCHEMAS = {name: json.loads(body) for name, body in re.findall(r"```json (\S+)\n(.*?)```", PAGE, re.DOTALL)}
REGISTRY = Registry().with_resources((n, Resource(s, specification=DRAFT202012)) for n, s in SCHEMAS.items())


def fits(name, value):
    Draft202012Validator(SCHEMAS[name], registry=REGISTRY).validate(value)


@pytest.mark.parametrize("name", SCHEMAS)
def test_each_block_is_a_schema(name):
    Draft202012Validator.check_schema(SCHEMAS[name])


def test_the_output_is_what_the_page_says(repo):
    shell = 'echo x > src/a.txt; grep -q scope[.]outside "$GRACE_PACKET_JSON" || echo x > src/b.txt'
    repo.plan(
        {
            "A": {
                "shell": shell,
                "write_scope": ["src/a.txt"],
                "verification": {"module_local_checks": ["test -f src/a.txt"]},
            },
            "Bad": {"shell": "exit 1", "write_scope": ["src/bad.txt"], "optional": True, "limits": {"attempts": 1}},
        }
    )
    fits("plan-check", repo.grace("plan", "check", "plan.yaml", "--json").exits(0).json)
    lines = repo.grace("run", "plan.yaml", "--yes", "--json").exits(0).events
    for line in lines:
        fits("run-line", line)
    run = lines[-1]["run_id"]
    for event in repo.grace("events", run, "--json").exits(0).events:
        fits("event", event)
    for name, *command in [
        ("status", "status", run),
        ("packets", "packets", run),
        ("review", "review", run),
        ("refresh", "refresh", run, "--full"),
        ("rollback", "rollback", run, "--to", "start", "--dry-run"),
        ("rollback", "rollback", run, "--to", "start"),
        ("status", "status", run),
        ("packets", "packets", run),
    ]:
        fits(name, repo.grace(*command, "--json").exits(0).json)


def test_what_the_graph_answers_is_what_the_page_says(repo):
    repo.commit(files={"a.py": "import os\n\n\ndef one():\n    return os\n", "b.py": "from a import one\n\none()\n"})
    for name, *command in [
        ("graph-stats", "stats"),
        ("graph-show", "show", "one"),
        ("graph-query", "query", "dependents of one within all"),
        ("graph-path", "path", "b.py", "one"),
        ("graph-export", "export", "--level", "symbol"),
    ]:
        line = command if name == "graph-export" else [*command, "--json"]
        fits(name, repo.grace("graph", *line).exits(0).json)
    fits("graph-path", repo.grace("graph", "path", "a.py", "b.py", "--json").exits(1).json)


def test_a_run_that_waits_says_so_in_the_same_words(repo):
    repo.plan({"A": {"shell": "echo x > src/a.txt", "write_scope": ["src/a.txt"]}})
    lines = repo.grace("run", "plan.yaml", "--json").exits(4).events
    fits("run-line", lines[-1])
    status = repo.status()
    fits("status", status)
    assert lines[-1]["state"] == status["state"] == "waiting"
    assert [a["modules"] for a in status["approvals"]] == [["A"]]


def test_a_run_in_the_background_and_a_dry_run_say_so_in_the_same_words(repo):
    repo.plan({"A": {"shell": "echo x > src/a.txt", "write_scope": ["src/a.txt"]}})
    fits("dry-run", repo.grace("run", "plan.yaml", "--dry-run", "--json").exits(0).json)
    said = repo.grace("run", "plan.yaml", "--yes", "--detach", "--json").exits(0).json
    fits("detached", said)
    fits("status", repo.status())
    for line in repo.grace("watch", said["run_id"], "--json").exits(0).events:
        fits("run-line", line)


def test_a_watch_streams_a_refresh_a_line_and_ctrl_c_ends_it_well(repo):
    repo.plan({"A": {"shell": "echo x > src/a.txt", "write_scope": ["src/a.txt"]}})
    repo.grace("run", "plan.yaml", "--yes").exits(0)
    watch = repo.start("refresh", "--watch", "--full", "--no-checks", "--json")
    first = json.loads(watch.stdout.readline())
    fits("refresh-watch", first)
    assert (first["level"], first["tree"], first["drift"]) == ("full", repo.tree(), [])
    repo.commit(files={"src/stray.txt": "x\n"})
    second = json.loads(watch.stdout.readline())
    fits("refresh-watch", second)
    assert [(d["kind"], d["path"]) for d in second["came"]] == [("unplanned_file", "src/stray.txt")]
    assert second["tree"] == repo.tree()
    watch.send_signal(signal.SIGINT)
    assert watch.wait(30) == 0
    assert "Traceback" not in repo.errors.read_text()
