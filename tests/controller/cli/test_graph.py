"""`grace graph …` on a real repository, as text and as JSON."""

import json
import subprocess

import pytest

from controller.main import run

FILES = {
    "a.py": "def base():\n    return 1\n",
    "b.py": "from a import base\n\n\ndef mid():\n    return base()\n",
    "c.py": "from b import mid\n\n\ndef top():\n    return mid()\n",
}


def git(*args):
    subprocess.run(["git", "-c", "user.name=t", "-c", "user.email=t@t", *args], check=True, capture_output=True)


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    git("init", "-q", "-b", "main")
    for path, text in FILES.items():
        (tmp_path / path).write_text(text)
    git("add", "-A")
    git("commit", "-qm", "one")
    (tmp_path / "c.py").write_text("from a import base\n\n\ndef top():\n    return base()\n")
    git("commit", "-qam", "two")
    return tmp_path


def said(capsys, *args, code=0):
    assert run(["graph", *args]) == code
    return capsys.readouterr().out


def test_each_verb_as_text(here, capsys):
    assert "3 python" in said(capsys, "stats")
    shown = said(capsys, "show", "base")
    assert "a.py:1 function def base()" in shown
    assert "needed by" in shown
    assert "b.py:5 b.py::mid calls a.py::base" in shown
    assert "1 b.py:5 b.py::mid calls a.py::base" in said(capsys, "query", "dependents of base")
    assert said(capsys, "query", "cycles") == "nothing\n"
    assert "c.py:5 c.py::top calls a.py::base" in said(capsys, "path", "top", "base")
    assert "base does not depend on top" in said(capsys, "path", "base", "top", code=1)
    assert said(capsys, "export", "--format", "dot").startswith("digraph")
    assert "+ c.py::top -> a.py::base" in said(capsys, "diff", "HEAD~1..HEAD")


def test_each_commit_has_its_own_graph(here, capsys):
    assert "c.py::top" not in said(capsys, "show", "base", "--at", "HEAD~1")
    assert "c.py::top" in said(capsys, "show", "base", "--at", "main")
    way = json.loads(said(capsys, "path", "top", "base", "--at", "HEAD~1", "--json"))["path"]
    assert [step["target"] for step in way] == ["b.py::mid", "a.py::base"]


def test_what_git_has_not_committed_is_not_looked_at(here, capsys):
    (here / "a.py").write_text("def other(): ...\n")
    assert "def base()" in said(capsys, "show", "base")
    assert not (here / ".git" / "grace").exists()


@pytest.mark.parametrize(
    ("args", "told"),
    [
        (["show", "nobody"], "nothing is called nobody at HEAD"),
        (["show", "base", "--at", "no-such-branch"], "no-such-branch"),
        (["query", "why"], "cannot read the question"),
        (["export", "--format", "png"], "no format"),
        (["export", "--level", "planet"], "no level"),
        (["export", "--format", "dot", "--level", "symbol", "--most", "2"], "more than 2"),
        (["diff", "HEAD"], "names no two trees"),
        (["diff", "..HEAD"], "names no two trees"),
        (["show", "base", "--plan", "absent.yaml"], "absent.yaml"),
    ],
)
def test_wrong_questions_are_exit_2_in_a_line_and_a_hint(here, capsys, args, told):
    assert run(["graph", *args]) == 2
    out, err = capsys.readouterr()
    assert told in err
    assert "Traceback" not in err
    assert not out


def test_modules_of_a_plan_are_names(here, capsys):
    (here / "plan.yaml").write_text(
        "version: 1\nname: t\nagents: {x: {kind: command, run: ['true']}}\n"
        "phases: [{id: p, modules: [{id: Base, purpose: t, write_scope: [a.py]}]}]\n"
    )
    found = json.loads(said(capsys, "query", "uses of Base", "--plan", "plan.yaml", "--json"))
    assert {row["at"] for row in found["rows"]} == {"b.py:1", "b.py:5", "c.py:1", "c.py:5"}
