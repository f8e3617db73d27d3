"""The command line itself: help, wrong usage, and nothing heavy before it is needed."""

import subprocess
import sys

import pytest

from controller.cli.app import app, invoke
from controller.main import VERSION, run

VERBS = sorted(info.name or info.callback.__name__ for info in app.registered_commands)


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_has_help_of_its_own(capsys, verb):
    assert run([verb, "--help"]) == 0
    said = capsys.readouterr().out
    assert f"grace {verb}" in said


@pytest.mark.parametrize("group", ["plan", "sandbox"])
def test_groups_show_their_verbs(group):
    done = subprocess.run(
        [sys.executable, "-P", "-c", "from controller.main import main; main()", group, "--help"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert {"plan": "check", "sandbox": "build"}[group] in done.stdout


def test_the_version_both_ways(capsys):
    assert run(["--version"]) == 0
    assert invoke(["--version"]) == 0
    assert capsys.readouterr().out == f"grace {VERSION}\n" * 2


@pytest.mark.parametrize("args", [["bogus"], ["run", "--bogus"], ["status", "a", "b"], ["approve", "a", "b", "c"]])
def test_wrong_usage_is_exit_2_on_stderr(capsys, args):
    assert run(args) == 2
    out, err = capsys.readouterr()
    assert err
    assert "Traceback" not in out + err


def test_outside_of_a_repository_every_verb_says_so(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for verb in ("status", "resume", "packets", "review", "events", "approve", "pause", "cancel", "refresh", "clean"):
        args = [verb, "--full"] if verb == "refresh" else [verb]
        assert run(args) == 2, verb
        assert "not in a git repository" in capsys.readouterr().err, verb


@pytest.mark.parametrize("args", [["--version"], ["--help"], ["status"]])
def test_nothing_heavy_is_loaded_before_it_is_needed(tmp_path, args):
    code = (
        "import sys\nfrom controller.main import run\ncode = run(sys.argv[1:])\n"
        "heavy = {'dbos', 'docker', 'git', 'networkx', 'tree_sitter', 'rich', 'sqlalchemy', 'yaml'}\n"
        "assert not heavy & set(sys.modules), heavy & set(sys.modules)\n"
    )
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    done = subprocess.run(
        [sys.executable, "-P", "-c", code, *args], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
