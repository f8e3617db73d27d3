"""New scenarios are tried on the base, for real: what is proof, what is weak, what is none."""

import re
import time
from dataclasses import replace

import pytest

from packets.errors import Interrupted
from packets.limits import Limits
from packets.packet import VerificationExcerpt
from packets.proof import Evidence
from packets.verdict import Severity
from reviewer.checks import run_checks
from reviewer.proving import Tried
from reviewer.review import review

CHECK = "python3 -m pytest -q -x tests"
BASE = {
    "app/__init__.py": "",
    "app/engine.py": "def price(total):\n    return total\n",
    "tests/test_engine.py": (
        "import pytest\nfrom app.engine import price\n\n\n"
        "@pytest.mark.parametrize('total', [1, 2])\ndef test_price(total):\n    assert price(total) == total\n\n\n"
        "def test_old():\n    assert price(3) == 3\n"
    ),
    "pytest.ini": "[pytest]\npythonpath = .\n",
}
ENGINE = (
    "RATE = 2\n\n\ndef price(total):\n    if total > 100:\n        return total - 1\n    return total\n\n\n"
    "def half(total):\n    return total / 2\n"
)
# What happens to each on the base stands in its name.
HEAD = {
    "app/engine.py": ENGINE,
    "app/late.py": "def late(total):\n    return total - 1\n\n\ndef unused():\n    return 0\n",
    "tests/helper.py": "def more(n):\n    return n + 1\n",
    "tests/test_engine.py": (
        BASE["tests/test_engine.py"].replace("[1, 2]", "[1, 2, 200 - 1, pytest.param(0, id='zero')]")
        + "\n\ndef test_fails():\n    assert price(200) == 199\n"
        "\n\ndef test_passes():\n    assert price(5) == 5\n"
        "\n\ndef test_skips():\n    pytest.importorskip('app.late')\n    assert price(200) == 199\n"
        "\n\ndef test_breaks():\n    import app.engine\n    assert app.engine.half(4) == 2\n"
        "\n\ndef test_says_nothing():\n    import app.late\n    app.late.late(1)\n"
        "\n\ndef test_touches_nothing():\n    import app.engine\n    assert app.engine.RATE == 2\n"
        "\n\n@pytest.mark.parametrize('n', [5, 200])\ndef test_half_of_it(n):\n    assert price(n) == min(n, 199)\n"
        "\n\n@pytest.fixture\ndef broken():\n    from app.late import late\n    return late\n"
        "\n\ndef test_set_up_breaks(broken):\n    assert broken(2) == 1\n"
    ).replace("200 - 1", "101 - 1"),
    "tests/test_late.py": (
        "from app.late import late\nfrom tests.helper import more\n\n\n"
        "def test_collected():\n    assert late(2) == 1\n\n\ndef test_empty():\n    late(2)\n\n\n"
        "def test_of_tests():\n    assert more(1) == 2\n"
    ),
}  # fmt: skip


@pytest.fixture
def judged(bench, engine, engine_image, tmp_path):
    """Judge an attempt whose checks and proofs run for real; gives the verdict, and asserts that nothing is left."""
    name = re.sub(r"[^a-zA-Z0-9_.-]", "-", f"grace-test-proof-{tmp_path.name[:24]}-{time.monotonic_ns()}")

    def run(tree, commands, lay=lambda check: None, cancelled=lambda: False, **limits):
        return run_checks(
            git=bench.git,
            sandbox=engine,
            image=engine_image,
            tree=tree,
            commands=commands,
            run_id=name,
            name=name,
            folder=tmp_path / "work",
            limits=Limits(**({"deadline": 120} | limits)),
            log_dir=tmp_path / "kept",
            cancelled=cancelled,
            lay=lay,
        )

    def go(head=HEAD, *, expected=(), check=CHECK, cancelled=lambda: False, deadline=120):
        before = bench.tree(bench.git.empty_tree(), BASE)
        after = bench.tree(before, head)

        def prove(trial):
            go.trials.append(trial)
            tree = trial.tree(bench.git)
            lay = lambda folder: trial.lay(bench.git, folder)  # noqa: E731
            return Tried.split(trial, run(tree, trial.all, lay=lay, cancelled=cancelled, deadline=deadline))

        case = bench.case(
            tree=after,
            expected=tuple(f"add scenario {each}" for each in expected),
            write_scope=("app/", "tests/", *head),
            verification_excerpt=VerificationExcerpt(module_local_checks=(check,)),
        )
        packet = case.packet.model_copy(update={"base": case.packet.base.model_copy(update={"tree": before})})
        try:
            return review(replace(case, packet=packet, check=run, prove=prove))
        finally:
            assert engine.remaining(name) == ()
            assert not (tmp_path / "work").exists()

    go.trials = []
    return go


def test_every_outcome_on_real_engines(judged):
    expected = ("fails", "passes", "collected", "empty", "says_nothing")
    verdict = judged(expected=expected)
    told = {proof.scenario.rpartition("::")[2]: proof for proof in verdict.proofs}

    assert {name: proof.evidence for name, proof in told.items()} == {
        "test_fails": Evidence.ASSERTION,
        "test_half_of_it": Evidence.ASSERTION,
        "test_collected": Evidence.LINE,
        "test_breaks": Evidence.LINE,
        "test_set_up_breaks": Evidence.LINE,
        "test_passes": Evidence.NONE,
        "test_skips": Evidence.NONE,
        "test_empty": Evidence.NONE,
        "test_says_nothing": Evidence.NONE,
        "test_touches_nothing": Evidence.NONE,
        "test_of_tests": Evidence.NONE,
        "test_price[zero]": Evidence.NONE,
    }
    why = {name: proof.reason for name, proof in told.items()}
    assert "AssertionError: assert 200 == 199" in why["test_fails"]
    assert "ModuleNotFoundError" in why["test_collected"]
    assert "in its set-up" in why["test_set_up_breaks"]
    assert why["test_passes"] == "passes on the base already"
    assert why["test_skips"] == "is skipped on the base"
    assert "asserts nothing" in why["test_empty"]
    assert "AttributeError" in why["test_touches_nothing"]
    assert "runs no changed line" in why["test_touches_nothing"]
    assert "runs no changed line" in why["test_of_tests"]
    assert told["test_collected"].lines == ("app/late.py:2",)
    assert told["test_fails"].lines == ("app/engine.py:5", "app/engine.py:6")
    rejected = {f.message.partition(": ")[0].rpartition("::")[2] for f in verdict.errors}
    assert rejected == {"test_passes", "test_empty", "test_says_nothing"}
    notes = {f.code for f in verdict.findings if f.severity is Severity.NOTE}
    assert "verification.unproved" in notes
    assert [len(trial.commands) for trial in judged.trials] == [1], "one sandbox"


ONE = {
    "app/engine.py": ENGINE,
    "tests/test_engine.py": BASE["tests/test_engine.py"] + "\n\ndef test_fails():\n    assert price(200) == 199\n",
}


@pytest.mark.parametrize("engine", ["bubblewrap"], indirect=True)
def test_deadline_and_cancelling(judged):
    slow = ONE | {
        "tests/conftest.py": "import app.engine, time\nif not hasattr(app.engine, 'half'):\n    time.sleep(60)\n"
    }
    verdict = judged(slow, expected=("fails",), deadline=2)
    (finding,) = verdict.errors
    assert finding.code == "verification.unproved"
    assert "deadline" in finding.message
    began = time.monotonic()
    with pytest.raises(Interrupted):
        judged(slow, expected=("fails",), cancelled=lambda: time.monotonic() - began > 3)


@pytest.mark.parametrize("engine", ["bubblewrap"], indirect=True)
@pytest.mark.parametrize(
    ("check", "evidence"),
    [
        ("cd tests && PYTHONPATH=.. python3 -m pytest -q --maxfail=1 && cd .. && echo done", Evidence.ASSERTION),
        ("unset GRACE_CHECK; python3 -m pytest -q tests", None),
    ],
    ids=["from another folder", "without its own folder"],
)
def test_the_command_may_be_any(judged, check, evidence):
    verdict = judged(ONE, expected=("fails",), check=check)
    if evidence is None:
        assert verdict.errors
    else:
        assert [proof.evidence for proof in verdict.proofs] == [evidence]


@pytest.mark.parametrize("engine", ["bubblewrap"], indirect=True)
def test_e9_a_session_that_is_ended_from_within_proves_nothing(judged):
    """On the base the test file ends the runner with a forged report: nothing that is not signed counts."""
    forged = ONE | {
        "tests/conftest.py": (
            "import app.engine, glob, json, os\n"
            "if not hasattr(app.engine, 'half'):\n"
            "    stem = glob.glob(os.environ['GRACE_OUT'] + '/0.*.start')[0][:-6]\n"
            "    fact = {'outcome': 'failed', 'asserted': True}\n"
            "    open(stem + '.told', 'w').write(json.dumps({'tests/test_engine.py::test_fails': fact}))\n"
            "    open(stem + '.end', 'w').write('mark\\n{}')\n"
            "    os._exit(1)\n"
        )
    }
    verdict = judged(forged, expected=("fails",))
    (finding,) = verdict.errors
    assert finding.code == "verification.unproved"
    assert "did not come to its end" in finding.message


RUNNER = """import glob, importlib, os, sys, traceback
from xml.sax.saxutils import quoteattr
sys.path.insert(0, os.getcwd())
cases = []
for path in sorted(glob.glob("tests/test_*.py")):
    names, fault = [], None
    try:
        module = importlib.import_module(path[:-3].replace("/", "."))
        names = [name for name in dir(module) if name.startswith("test_")]
    except Exception as error:
        cases.append(f'<testcase name={quoteattr(path)}><error message="{type(error).__name__}"/></testcase>')
    for name in names:
        said = ""
        try:
            getattr(module, name)()
        except Exception as error:
            kind = "failure" if isinstance(error, AssertionError) else "error"
            said = f'<{kind} type="{type(error).__name__}" message={quoteattr(str(error) or "assert")}/>'
        cases.append(f'<testcase classname={quoteattr(path[:-3].replace("/", "."))} name="{name}">{said}</testcase>')
open(os.environ["GRACE_JUNIT"], "w").write("<testsuite>" + "".join(cases) + "</testsuite>")
sys.exit("<failure" in "".join(cases) or "<error" in "".join(cases))
"""


@pytest.mark.parametrize("engine", ["bubblewrap"], indirect=True)
def test_another_runner_proves_by_its_report(judged, monkeypatch):
    """It runs whole; an assertion is proof, and what breaks otherwise stays weak, since no line is measured."""
    monkeypatch.setitem(BASE, "runner.py", RUNNER)
    monkeypatch.setitem(BASE, "tests/test_engine.py", "from app.engine import price\n")
    head = {
        "app/engine.py": ENGINE,
        "tests/test_plain.py": "from app.engine import price\n\n\ndef test_plain():\n    assert price(200) == 199\n",
        "tests/test_names.py": "from app.engine import half\n\n\ndef test_names():\n    assert half(2) == 1\n",
        "tests/test_within.py": (
            "import app.engine\n\n\ndef test_within():\n    assert app.engine.half(2) == 1\n"
            "\n\ndef test_same():\n    assert app.engine.price(2) == 2\n"
        ),
    }
    verdict = judged(head, check="python3 runner.py")
    told = {proof.scenario.rpartition("::")[2]: proof for proof in verdict.proofs}
    assert [name for name, proof in told.items() if proof.proved] == ["test_plain"]
    assert "did not run on the base: the check ended with 1" in told["test_names"].reason
    assert "measured under pytest only" in told["test_within"].reason
    assert told["test_same"].reason == "passes on the base already"
