"""docs/agents.md: what it promises to the author of an agent is what the agent gets."""

import json
import re
from pathlib import Path

from packets.report import WorkerReport
from worker.attempt import _variables
from worker.report import read_report

PAGE = (Path(__file__).parents[2] / "docs" / "agents.md").read_text()


def block(language):
    return re.search(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)[1]


def test_every_variable_is_described(packets):
    rows = re.findall(r"^\| (`GRACE_.*?) \|", PAGE, re.MULTILINE)
    assert {name for row in rows for name in re.findall(r"GRACE_\w+", row)} == set(
        _variables(packets.script(["app/"], ""))
    )


def test_the_report_is_one_and_names_every_key(tmp_path):
    (tmp_path / "report.json").write_text(block("json"))
    report, fault = read_report(tmp_path)
    assert fault == ""
    assert report is not None
    assert set(json.loads(block("json"))) == set(WorkerReport.model_fields)
    assert report.decisions.rejected_alternatives


def test_the_smallest_agent_does_its_work(tmp_path, monkeypatch):
    packet = tmp_path / "packet.json"
    body = {"module_id": "Docs/Page", "purpose": "Say hello", "write_scope": ["docs/page.md"]}
    packet.write_text(json.dumps({"execution_packet": body}))
    monkeypatch.setenv("GRACE_PACKET_JSON", str(packet))
    monkeypatch.chdir(tmp_path)
    exec(block("python"), {})
    assert (tmp_path / "docs/page.md").read_text() == "# Docs/Page\n\nSay hello\n"
