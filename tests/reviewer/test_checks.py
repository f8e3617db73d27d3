"""Checks run for real, on every engine that isolates."""

import re
import time
from pathlib import Path

import pytest

from packets.errors import Interrupted
from packets.limits import Limits
from reviewer.checks import run_checks
from reviewer.markers import read_output
from sandbox.git.values import Content

FILES = {
    "app.py": (
        "import logging\nlog = logging.getLogger('shop')\n"
        "def f():\n    log.info('[A][B] logged')\n    log.debug('[A][DEBUG]')\n    return 1\n"
    ),
    "test_app.py": (
        "import pytest\nfrom app import f\n\n"
        "class TestF:\n    @pytest.mark.parametrize('x', ['one', 'two'])\n"
        "    def test_f(self, x):\n        assert f() == 1\n\n"
        "def test_skipped():\n    pytest.skip('not today')\n\n"
        "@pytest.mark.xfail(strict=True)\ndef test_known():\n    assert f() == 2\n"
    ),
    "test_red.py": "def test_red():\n    print('[RED]')\n    assert 0\n",
    "sub/pytest.ini": "[pytest]\n",
    "sub/test_sub.py": "def test_sub():\n    assert 1 == 1.0\n",
    # E9 and its brothers: product code that ends the runner, or writes its report.
    "leaves.py": "import os\nos._exit(0)\n",
    "test_leaves.py": "import leaves\ndef test_wanted():\n    assert 0\n",
    "forges.py": (
        "import glob, os\n"
        "out = os.environ['GRACE_OUT']\n"
        'body = \'<testsuite><testcase file="test_forges.py" classname="test_forges" name="test_wanted">\'\n'
        "body += '<system-out>[FORGED]</system-out></testcase></testsuite>'\n"
        "start = glob.glob(out + '/' + os.environ['GRACE_NUMBER'] + '.*.start')[0]\n"
        "for name in (start[:-6] + '.xml', os.environ['GRACE_JUNIT'], start[:-6] + '.end'):\n"
        "    open(name, 'w').write(body)\n"
        "os._exit(0)\n"
    ),
    "test_forges.py": "import forges\ndef test_wanted():\n    assert 0\n",
    "rewrites.py": (
        "import atexit, os\n"
        "def late():\n"
        "    for name in os.listdir(os.environ['GRACE_OUT']):\n"
        "        if name.endswith('.xml'):\n"
        "            path = os.environ['GRACE_OUT'] + '/' + name\n"
        "            text = open(path).read().replace('<failure', '<x').replace('</failure', '</x')\n"
        "            open(path, 'w').write(text)\n"
        "    os._exit(0)\n"
        "atexit.register(late)\n"
    ),
    "test_rewrites.py": "import rewrites\ndef test_wanted():\n    assert 0\n",
    "lies.py": "import atexit, os\natexit.register(os._exit, 0)\n",
    "test_lies.py": "import lies\ndef test_wanted():\n    assert 0\n",
    "inner.py": "import pytest, sys\nsys.exit(pytest.main(['-q', 'test_red.py']) - 1)\n",
    "test_inner.py": (
        "import subprocess, sys\n"
        "def test_inner():\n    assert subprocess.run([sys.executable, 'inner.py']).returncode == 0\n"
    ),
}


@pytest.fixture
def run(git, engine, engine_image, tmp_path):
    """Run commands on a tree of FILES and more; gives the results, and asserts that nothing is left."""
    name = f"grace-test-check-{tmp_path.name[:30]}-{time.monotonic_ns()}"
    name = re.sub(r"[^a-zA-Z0-9_.-]", "-", name)

    def go(*commands, files=(), cancelled=lambda: False, **limits):
        contents = {path: Content("100644", text.encode()) for path, text in (FILES | dict(files)).items()}
        try:
            return run_checks(
                git=git,
                sandbox=engine,
                image=engine_image,
                tree=git.import_entries(git.empty_tree(), contents),
                commands=commands,
                run_id=name,
                name=name,
                folder=tmp_path / "work",
                limits=Limits(**({"deadline": 120} | limits)),
                log_dir=tmp_path / "logs",
                cancelled=cancelled,
            )
        finally:
            assert not (tmp_path / "work").exists()
            assert engine.remaining(name) == ()

    return go


def test_each_command_runs_whatever_the_one_before_said(run):
    first, second, third = run(
        "echo one; sleep 0.2; exit 3", "printf 'two\\n' > made; cat made", "cat made && pwd && id -u"
    )
    assert (first.exit_code, first.passed, first.tail) == (3, False, "one\n")
    assert (second.exit_code, second.passed, second.ran_to_end) == (0, True, None)
    assert third.tail.startswith("two\n")
    assert 0.1 < first.duration < 60  # the stamps of some disks are a clock tick apart


def test_scenarios_are_read_from_pytest_s_own_report(run):
    green, red, below = run("python3 -m pytest -q test_app.py", "pytest test_red.py", "cd sub && pytest -q")
    assert green.passed
    assert green.ran_to_end is True
    assert set(green.scenarios_passed) == {"test_app.py::TestF::test_f[one]", "test_app.py::TestF::test_f[two]"}
    assert set(green.scenarios_skipped) == {"test_app.py::test_skipped", "test_app.py::test_known"}
    assert (red.passed, red.scenarios_failed) == (False, ("test_red.py::test_red",))
    assert below.scenarios_passed == ("test_sub.py::test_sub",)


def test_captured_output_holds_log_records_of_passing_tests(run):
    results = run("pytest -q test_app.py")
    assert "[A][B]" not in results[0].tail
    output = read_output(results)
    assert output.place_of("[A][B]") is not None
    assert output.place_of("[A][DEBUG]") is None, "INFO and above, unless the repository sets another level"


@pytest.mark.parametrize(
    ("product", "why"),
    [
        ("leaves", "did not come to its end"),
        ("forges", "did not come to its end"),
        ("rewrites", "not the one that the test runner wrote"),
        ("lies", "itself ended with 1"),
    ],
)
def test_e9_a_runner_that_is_ended_or_forged_from_within_is_no_evidence(run, product, why):
    (result,) = run(f"pytest -q test_{product}.py")
    assert result.exit_code == 0, "the trick works, or this test shows nothing"
    assert result.ran_to_end is False
    assert why in result.fault
    assert not result.passed
    assert "test_forges.py::test_wanted" not in result.scenarios_passed
    assert read_output((result,)).place_of("[FORGED]") is None


def test_a_test_that_starts_pytest_is_one_session(run):
    (result,) = run("pytest -q test_inner.py")
    assert result.passed, (result.fault, result.tail)
    assert result.scenarios_passed == ("test_inner.py::test_inner",)


def test_two_sessions_in_one_command_both_count(run):
    both, hidden = run("pytest -q test_app.py && pytest -q sub", "pytest -q test_app.py && pytest -q test_leaves.py")
    assert both.passed
    assert len(both.scenarios_passed) == 3
    assert len(both.junit) == 2
    assert hidden.ran_to_end is False


def test_a_command_may_set_pythonpath(run):
    plain, empty, inside = run(
        "PYTHONPATH=sub pytest -q test_app.py",
        "PYTHONPATH= python3 -m pytest -q test_app.py",
        "sh hides.sh",
        files={"hides.sh": "PYTHONPATH=sub pytest -q test_app.py\n"},
    )
    assert plain.passed, plain.tail
    assert empty.passed, empty.tail
    assert not inside.passed
    assert "grace_witness" in inside.tail


def test_pytest_without_our_plugin_is_no_evidence(run):
    (result,) = run("unset PYTEST_ADDOPTS; pytest -q test_app.py")
    assert (result.exit_code, result.ran_to_end, result.passed) == (0, False, False)
    assert "PYTEST_ADDOPTS" in result.fault


def test_the_environment_is_fixed_and_closed(run):
    (result,) = run('echo "$TZ $LC_ALL $PYTHONHASHSEED $PYTHONDONTWRITEBYTECODE"; touch "$HOME/x" && echo home; env')
    assert result.tail.startswith("UTC C.UTF-8 0 1\nhome\n")
    assert "GRACE_REPO" in result.tail


def test_there_is_no_network(run):
    code = "import socket; socket.create_connection(('1.1.1.1', 53), 2)"
    (result,) = run(f'python3 -c "{code}"')
    assert result.exit_code == 1
    assert "unreachable" in result.tail


def test_a_deadline_stops_all_that_is_left(run):
    began = time.monotonic()
    first, second, third = run("echo in time", "echo slow; sleep 60", "echo never", deadline=3)
    assert time.monotonic() - began < 40
    assert first.passed
    assert (second.exit_code, second.reason, second.tail) == (None, "deadline", "slow\n")
    assert (third.exit_code, third.reason, third.tail) == (None, "not_run", "")


def test_cancelling_is_no_result(run):
    began = time.monotonic()
    with pytest.raises(Interrupted):
        run("sleep 60", cancelled=lambda: time.monotonic() - began > 1)


def test_c7_binary_output_and_a_long_line_are_kept_in_bounds(run):
    write = "import sys; sys.stdout.buffer.write(bytes(range(256)) + b'x' * 10_000_000 + b'\\nlast\\n')"
    (result,) = run(f'python3 -c "{write}"')
    assert result.passed
    assert len(result.tail) <= 4001
    assert result.tail.endswith("last\n")
    assert b"bytes left out" in Path(result.log).read_bytes()


def test_what_a_check_leaves_behind_cannot_lead_us_out(run):
    """A check turns its own output into a link and a pipe: neither is followed."""
    link, pipe = run(
        'rm "$GRACE_OUT/0.log"; ln -s /etc/passwd "$GRACE_OUT/0.log"',
        'rm "$GRACE_OUT/1.log"; mkfifo "$GRACE_OUT/1.log"; ln -s /etc/hostname "$GRACE_OUT/1.own.xml"',
    )
    assert (link.tail, link.log, pipe.tail, pipe.junit) == ("", "", "", ())


def test_another_runner_may_report_where_it_is_told(run):
    report = '<testsuite><testcase classname="shop" name="adds up"/></testsuite>'
    good, bad = run(f"echo '{report}' > \"$GRACE_JUNIT\"", 'echo "<!DOCTYPE x><x/>" > "$GRACE_JUNIT"')
    assert good.scenarios_passed == ("shop::adds up",)
    assert good.passed
    assert not bad.passed
    assert "document type" in bad.fault


def test_no_commands_start_nothing(run, tmp_path):
    assert run() == ()
    assert not (tmp_path / "logs").exists()


def test_reports_may_be_left_in_a_folder_or_printed(run):
    """Of another runner: files in $GRACE_REPORTS, nothing through a link; the lines of `go test -json` and cargo."""
    suite = '<testsuite><testcase classname="shop.CartTest" name="addsUp"/></testsuite>'
    line = '{"Action":"pass","Package":"shop","Test":"TestTotal"}'
    block = (
        "running 1 test\\ntest tests::adds_up ... ok\\n\\ntest result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0"
    )
    folder, go, cargo, linked, bad = run(
        f"echo '{suite}' > \"$GRACE_REPORTS/TEST-a.xml\"; echo '{line}' > \"$GRACE_REPORTS/go.json\"",
        f"echo '{line}' # go test -json ./...",
        f"printf '{block} filtered out\\n' # cargo test",
        'echo "<!DOCTYPE x><x/>" > x.xml; rmdir "$GRACE_REPORTS" && ln -s "$GRACE_REPO" "$GRACE_REPORTS"',
        'echo "<!DOCTYPE x><x/>" > "$GRACE_REPORTS/x.xml"',
    )
    assert folder.scenarios_passed == ("shop.CartTest::addsUp", "shop::TestTotal")
    assert go.scenarios_passed == ("shop::TestTotal",)
    assert cargo.scenarios_passed == ("tests::adds_up",)
    assert linked.passed
    assert "document type" in bad.fault
