"""A small shop in a real repository, one attempt at it, and the case that the reviewer is handed."""

import subprocess
from dataclasses import replace

import pytest

from packets.deltas import GraphDelta
from packets.graph import Expectation, GraphReport
from packets.outcome import AttemptOutcome
from packets.packet import AgentChoice, Base, ExecutionPacket, PacketDeltas, VerificationExcerpt
from packets.proof import ScenarioRun
from packets.protected import is_protected
from packets.verdict import CheckResult
from reviewer.case import Case
from reviewer.proving import Tried
from reviewer.review import review
from sandbox.git import Git
from sandbox.git.values import Content

CHECK = "pytest tests/test_engine.py -q"
BASE = {
    "app/engine.py": "def price(total):\n    return total\n",
    "app/money.py": 'SALE = "[Sale]"\n\n\nclass Money:\n    pass\n',
    "tests/test_engine.py": (
        "from app.engine import price\n\n\n"
        "def test_price():\n    assert price(10) == 10\n    assert price(0) == 0\n\n\n"
        "def test_zero():\n    assert price(0) == 0\n"
    ),
    "README.md": "a shop\n",
}
GOOD = {
    "app/engine.py": (
        "import logging\n\nlog = logging.getLogger(__name__)\n\n\n"
        'def price(total):\n    log.info("[Pricing][Engine][GUARD] on")\n    return total\n'
    ),
    "tests/test_engine.py": BASE["tests/test_engine.py"] + "\n\ndef test_guard():\n    assert price(7) == 7\n",
}
SCOPE = ("app/engine.py", "app/extra/", "tests/test_engine.py")
MARKER = "[Pricing][Engine][GUARD]"


_made = {}


def _content(what):
    data = what.encode() if isinstance(what, str) else what
    return Content("100644", data) if isinstance(data, bytes) else data


class Bench:
    """Builds trees and cases; `judge` is the whole review."""

    def __init__(self, git, logs):
        self.git = git
        self.logs = logs
        self.base = self.tree(git.empty_tree(), BASE)
        self.good = dict(GOOD)
        self.checked = []
        self.tried = []

    def tree(self, base, files):
        """Import files, given as text, bytes, Content, or None for gone; each tree is made once."""
        key = (base, tuple(sorted(files.items(), key=lambda item: item[0])))
        if key not in _made:
            _made[key] = self.git.import_entries(base, {path: _content(what) for path, what in files.items()})
        return _made[key]

    def result(self, command=CHECK, *, output=f"INFO {MARKER} on\n", **facts):
        """A check as the runner gives it: green, with the scenarios of the shop, unless said otherwise."""
        log = self.logs / f"{len(list(self.logs.iterdir()))}.log"
        log.write_text(output)
        names = ("price", "zero", "guard")
        green = {
            "command": command,
            "exit_code": 0,
            "log": str(log),
            "ran_to_end": True,
            "scenarios_passed": tuple(f"tests/test_engine.py::test_{name}" for name in names),
        }
        return CheckResult(**(green | facts))

    def case(
        self,
        files=GOOD,
        *,
        tree=None,
        report=None,
        expected=(),
        checks=None,
        before=None,
        graph=None,
        outcome=None,
        proof=None,
        **packet,
    ):
        """One attempt; what is not said is as it should be."""
        head = tree or self.tree(self.base, files)
        results = checks if checks is not None else (self.result(),)
        body = {
            "packet_id": "sha256:0",
            "run_id": "r",
            "phase": "p",
            "wave": 1,
            "attempt": 1,
            "base": Base(commit="0" * 40, tree=self.base),
            "plan_digest": "sha256:1",
            "module_id": "Pricing/Engine",
            "purpose": "Guard the price",
            "write_scope": SCOPE,
            "expected_deltas": PacketDeltas(verification=expected),
            "verification_excerpt": VerificationExcerpt(module_local_checks=(CHECK,)),
            "agent": AgentChoice(name="a", spec={"kind": "command", "run": ("true",)}),
        }

        def check(tree, commands):
            self.checked.append((tree, commands))
            return before if before is not None and tree == self.base else results

        failing = {"outcome": "failed", "asserted": True, "cause": "AssertionError: assert 0 == 7"}

        def prove(trial):
            self.tried.append(trial)
            if isinstance(proof, Tried):
                return proof
            failed = [ScenarioRun(**({"id": each, **failing} | (proof or {}))) for each in trial.only]
            red = self.result(exit_code=1, scenarios_passed=(), runs=tuple(failed))
            return Tried(base=(red,))

        def compare(claimed: GraphDelta):
            known = tuple(Expectation(text=edge, met=edge == "A -> B") for edge in claimed.edges_added)
            return (graph or GraphReport()).model_copy(update={"claimed": known})

        return Case(
            packet=ExecutionPacket(**(body | packet)),
            outcome=AttemptOutcome(**({"head_tree": head, "exit_code": 0, "report": report} | (outcome or {}))),
            git=self.git,
            compare=compare,
            check=check,
            prove=prove,
            protected=is_protected,
        )

    def judge(self, *args, **kwargs):
        return review(self.case(*args, **kwargs))

    def errors(self, *args, **kwargs):
        return {finding.code for finding in self.judge(*args, **kwargs).errors}

    def with_sizes(self, case, **sizes):
        return replace(case, sizes=replace(case.sizes, **sizes))


@pytest.fixture(scope="session")
def git(tmp_path_factory):
    """One repository for all: tests only add objects, whose names are their content."""
    folder = tmp_path_factory.mktemp("repo")
    subprocess.run(["git", "init", "-q", folder], check=True)
    with Git.discover(folder) as opened:
        yield opened


@pytest.fixture
def bench(git, tmp_path):
    logs = tmp_path / "logs"
    logs.mkdir()
    return Bench(git, logs)
