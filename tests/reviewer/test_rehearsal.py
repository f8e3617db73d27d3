"""The engines that do not isolate: memory, with scripts for commands, and host."""

import pytest

from packets.errors import Interrupted
from packets.limits import Limits
from reviewer.checks import run_checks
from sandbox.choose import choose
from sandbox.git.values import Content
from sandbox.memory import MemorySandbox


@pytest.fixture
def run(git, tmp_path):
    def go(sandbox, *commands, cancelled=lambda: False):
        files = {"test_a.py": b"def test_a():\n    assert 1 == 1.0\n", "data": b"here\n"}
        results = run_checks(
            git=git,
            sandbox=sandbox,
            image="",
            tree=git.import_entries(git.empty_tree(), {path: Content("100644", data) for path, data in files.items()}),
            commands=commands,
            run_id="r",
            name="grace-r-check",
            folder=tmp_path / "work",
            limits=Limits(deadline=60),
            log_dir=tmp_path / "logs",
            cancelled=cancelled,
        )
        assert not (tmp_path / "work").exists()
        assert sandbox.remaining("r") == ()
        return results

    return go


def test_memory_runs_its_script_for_each_command(run):
    seen = []

    def script(mounts, job):
        seen.append((mounts["/repo"] / "data").read_text())
        return 0

    good, bad, unknown = run(MemorySandbox({"pytest -q": script}), "pytest -q", "false", "unheard of")
    assert (good.passed, good.ran_to_end) == (True, None)
    assert seen == ["here\n"]
    assert (bad.exit_code, unknown.exit_code) == (1, 127)
    with pytest.raises(Interrupted):
        run(MemorySandbox(), "true", cancelled=lambda: True)


def test_host_keeps_the_contract(run):
    sandbox = choose("host").sandbox
    try:
        good, bad = run(sandbox, 'cat data && test -d "$GRACE_REPO"', "exit 4")
    finally:
        sandbox.close()
    assert (good.tail, good.passed, bad.exit_code) == ("here\n", True, 4)
