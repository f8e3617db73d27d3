"""Packets: the same plan and tree give the same bytes, whoever composes and when; what they say comes back."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from controller.compose import compose, from_yaml, to_yaml
from controller.graph import Knowledge
from controller.graph.excerpt import measure
from packets.agent import CommandAgent
from packets.errors import UsageError
from packets.limits import Limits
from packets.packet import AgentChoice, Base, ExecutionPacket, PacketDecisions
from packets.plan import Plan
from packets.verdict import Finding, Severity
from sandbox.git import Content, Git

PLAN: dict[str, Any] = {
    "version": 1,
    "name": "t",
    "defaults": {"agent": "a", "limits": {"deadline": "5m"}},
    "agents": {
        "a": {"kind": "command", "run": ["true", "--x"], "env": {"Z": "1", "A": "2"}},
        "b": {"kind": "patch", "patch": "p"},
    },
    "modules_map": {"Money": ["app/money.py"]},
    "phases": [
        {
            "id": "p",
            "modules": [
                {
                    "id": "Pricing/Engine",
                    "purpose": "Guard",
                    "depends_on": ["Money"],
                    "write_scope": ["app/engine.py"],
                    "notes": ["Keep tax outside", "größer: „ja“"],
                    "limits": {"attempts": 2},
                    "verification": {
                        "module_local_checks": ["pytest -q"],
                        "required_markers": ["[P][E]"],
                        "forbidden_markers": ["[X]"],
                    },
                    "expected_deltas": {"graph": ["Engine -> Policy"], "verification": ["add scenario guard"]},
                }
            ],
        }
    ],
}  # fmt: skip
FILES = {
    "app/money.py": "class Money:\n    def add(self): pass\n",
    "app/engine.py": (
        "# @RATIONALE Integers, because floats lose cents.\nfrom app.money import Money\n"
        "class Engine:\n    def run(self, m: Money): m.add()  # @REJECTED caching: it hid a bug\n"
    ),
    "app/use.py": "# @RATIONALE Engine is enough\nfrom app.engine import Engine\n",
}


class Shop:
    """A repository with one tree, and what composes from it."""

    def __init__(self, folder: Path) -> None:
        subprocess.run(["git", "init", "-q", str(folder)], check=True)
        self.git = Git.discover(folder)
        self.knowledge = Knowledge(self.git, folder / ".git" / "facts.db")
        self.plan = Plan.model_validate_json(json.dumps(PLAN))
        self.tree = self.grow({path: text.encode() for path, text in FILES.items()})

    def grow(self, files: dict[str, bytes]) -> str:
        contents: dict[str, Content | None] = {path: Content("100644", data) for path, data in files.items()}
        return self.git.import_entries(self.git.empty_tree(), contents)

    def compose(self, **changed: Any) -> ExecutionPacket:
        given = {
            "plan": self.plan, "plan_digest": "sha256:p", "run_id": "r1", "wave": 1, "attempt": 1,
            "base": Base(commit="c" * 40, tree=self.tree), "findings": (), "delivered": (), **changed,
        }  # fmt: skip
        plan, digest = given.pop("plan"), given.pop("plan_digest")
        module = plan.module("Pricing/Engine")
        return compose(plan, digest, module, knowledge=self.knowledge, git=self.git, **given)


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[Shop]:
    made = Shop(tmp_path)
    yield made
    made.git.close()


def test_a_packet_says_all_that_a_worker_needs(shop: Shop) -> None:
    finding = Finding(code="graph.unmet", severity=Severity.ERROR, message="no", path="app/engine.py", line=3)
    packet = shop.compose(
        delivered=["Money delivered: cents"], findings=[finding], decisions=PacketDecisions(rejected=("floats",))
    )
    read = yaml.safe_load(to_yaml(packet))["execution_packet"]
    assert list(read) == [
        "packet_id", "run_id", "phase", "wave", "attempt", "base", "plan_digest", "module_id", "purpose", "write_scope",
        "plan_excerpt", "graph_excerpt", "verification_excerpt", "expected_deltas", "decisions", "stop_conditions",
        "findings", "limits", "agent",
    ]  # fmt: skip
    assert read["plan_excerpt"] == ["Keep tax outside", "größer: „ja“", "Money delivered: cents"]
    assert read["graph_excerpt"] == {
        "depends_on": ["Money"],
        "surface": [{"symbol": "Money", "at": "app/money.py:1", "signature": "class Money", "lines": "def add(self)"}],
        "dependents": [{"symbol": "app/use.py", "at": "app/use.py:2", "code": "from app.engine import Engine"}],
    }
    assert read["verification_excerpt"] == {
        "required_markers": ["[P][E]"], "forbidden_markers": ["[X]"], "module_local_checks": ["pytest -q"],
        "proof": None, "proof_deadline": 600,
    }  # fmt: skip
    assert read["expected_deltas"] == {"graph": ["Engine -> Policy"], "verification": ["add scenario guard"]}
    assert read["decisions"] == {
        "rationale": ["app/engine.py:1 Integers, because floats lose cents.", "app/use.py:1 Engine is enough"],
        "rejected": ["app/engine.py:4 caching: it hid a bug", "floats"],
    }
    assert any("Money" in line and "blocked" in line for line in read["stop_conditions"])
    assert read["findings"][0]["code"] == "graph.unmet"
    assert (read["limits"]["deadline"], read["limits"]["attempts"]) == (300, 2)
    assert read["agent"]["name"] == "a"


def test_the_digest_is_of_plan_tree_and_attempt(shop: Shop) -> None:
    packet = shop.compose()
    assert packet.is_genuine
    assert from_yaml(to_yaml(packet)) == packet
    other = shop.compose(run_id="r2", base=Base(commit="d" * 40, tree=shop.tree))
    assert other.packet_id == packet.packet_id
    differing = {
        shop.compose(**changed).packet_id
        for changed in (
            {"attempt": 2}, {"wave": 2}, {"plan_digest": "q"}, {"patch_digest": "x"}, {"delivered": ["x"]},
            {"base": Base(commit="c" * 40, tree=shop.grow({"app/engine.py": b""}))},
        )
    }  # fmt: skip
    assert len(differing | {packet.packet_id}) == 7
    assert not packet.model_copy(update={"purpose": "other"}).is_genuine


_ONCE = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[2])
import importlib.util
spec = importlib.util.spec_from_file_location("composing", sys.argv[3])
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
shop = module.Shop(Path(sys.argv[1]))
sys.stdout.buffer.write(module.to_yaml(shop.compose()).encode())
shop.git.close()
"""


def test_other_processes_compose_the_same_bytes(shop: Shop, tmp_path: Path) -> None:
    written = []
    for number, seed in enumerate(("0", "1", "4242")):
        folder = tmp_path / f"again{number}"
        folder.mkdir()
        environment = {**os.environ, "PYTHONHASHSEED": seed, "LC_ALL": "C", "TZ": f"UTC{number}"}
        root = str(Path(__file__).parents[2])
        command = [sys.executable, "-P", "-c", _ONCE, str(folder), root, __file__]
        done = subprocess.run(command, env=environment, capture_output=True, check=True)
        written.append(done.stdout)
    assert written == [to_yaml(shop.compose()).encode()] * 3


def test_a_module_without_agent_is_a_usage_error(shop: Shop) -> None:
    without = Plan.model_validate_json(json.dumps({**PLAN, "defaults": {}}))
    with pytest.raises(UsageError, match="Pricing/Engine has no agent"):
        shop.compose(plan=without)


def test_a_path_that_is_no_text_can_stand_in_a_packet(shop: Shop) -> None:
    finding = Finding(code="x", severity=Severity.NOTE, message="in caf\udce9", path="caf\udce9", evidence="caf\udce9")
    tree = shop.grow({"caf\udce9.py": b"import app.engine\n", "app/engine.py": b"x = 1\n"})
    packet = shop.compose(findings=[finding], delivered=["caf\udce9"], base=Base(commit="c", tree=tree))
    assert packet.findings[0].path == "caf\\xe9"
    assert packet.graph_excerpt.dependents[0].at == "caf\\xe9.py:1"
    assert from_yaml(to_yaml(packet).encode().decode()) == packet


def test_a_huge_neighbourhood_stays_small(shop: Shop) -> None:
    body = "".join(f"def function_number_{i}(argument: int, other: str = 'x') -> None: pass\n" for i in range(5000))
    tree = shop.grow({"app/money.py": body.encode()})
    found = shop.compose(base=Base(commit="c", tree=tree)).graph_excerpt
    assert shop.plan.packet_tokens * 0.4 < measure(found) <= shop.plan.packet_tokens


def bare(**changed: Any) -> ExecutionPacket:
    given: dict[str, Any] = {
        "run_id": "r", "phase": "p", "wave": 1, "attempt": 1, "base": Base(commit="c", tree="t"), "plan_digest": "d",
        "module_id": "M", "purpose": "x", "write_scope": ("a",),
        "agent": AgentChoice(name="a", spec=CommandAgent(kind="command", run=("true",))), **changed,
    }  # fmt: skip
    return ExecutionPacket(**given).stamped()


_TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=60)


@settings(max_examples=80, deadline=None)
@given(texts=st.lists(_TEXT, max_size=4), number=st.floats(0.001, 1000))
def test_any_text_survives(texts: list[str], number: float) -> None:
    agent = CommandAgent(kind="command", run=("x", *texts), env=dict.fromkeys(texts, "v"))
    packet = bare(
        purpose="\n".join(texts),
        plan_excerpt=tuple(texts),
        limits=Limits(cpus=number),
        agent=AgentChoice(name="a", spec=agent),
    )
    written = to_yaml(packet)
    assert from_yaml(written) == packet
    assert from_yaml(written).is_genuine
    assert all(char.isprintable() or char == "\n" for char in written if char < "\x80")


@pytest.mark.parametrize(
    "text",
    [
        "yes", "null", "~", "1e3", "0x10", "2024-01-01", "12:30", "- a", "a: b", "#no", "&a *a", "!!python/object:x",
        "", " lead", "trail ", "tab\tx", "\x00\x1b[31m\x7f", "\x85\u2028\u2029\ufeff", "line\n\n  more\n", "😀",
        "x" * 5000, "'\"",
        "\x85", "a\u2028b", "\u2029", "\ufeff", "a\r\nb", "\n", "\n\n x", " \n", "a \nb\n\n", "\ta\n b",
        "---", "...", "%TAG", "{a}", "[a]", "@x", "`x`", "| x", "> x", "<<", "=",
    ],
)  # fmt: skip
def test_text_that_yaml_likes_to_change(text: str) -> None:
    packet = bare(purpose=text, plan_excerpt=(text, text))
    assert from_yaml(to_yaml(packet)) == packet


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "x: 1",
        "execution_packet:",
        "execution_packet: {run_id: 1}",
        "a: !!python/name:os.system",
        "\t",
        "a: &a [*a]",
    ],
)
def test_what_is_no_packet_is_a_usage_error(text: str) -> None:
    with pytest.raises(UsageError, match="no execution packet"):
        from_yaml(text)


def test_the_reference_names_every_key() -> None:
    text = (Path(__file__).parents[2] / "docs" / "packet.md").read_text()
    table = [line for line in text.splitlines() if line.startswith("| `")]
    for key in ExecutionPacket.model_fields:
        assert any(f"`{key}" in line.split("|")[1] for line in table), key
