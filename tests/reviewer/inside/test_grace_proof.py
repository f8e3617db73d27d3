"""The plugin by itself, on every Python that is at hand: which lines a test runs, by tracing or by monitoring."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

INSIDE = Path(__file__).parents[3] / "reviewer" / "inside"
SITE = Path(pytest.__file__).parents[1]
APP = "def f(n):\n    if n:\n        return 1\n    return 2\n\n\nclass A:\n    y = 3\n\n\ndef g():\n    return 4\n"
TESTS = """
import threading
from app import A, f, g

def test_one():
    assert f(1) == 1
def test_again():
    assert f(1) == 1
def test_class():
    assert A.y == 3
def test_thread():
    other = threading.Thread(target=f, args=(0,))
    other.start(); other.join()
    assert g() == 4
def test_fails():
    assert f(0) == 1
def test_other():
    assert g() == 5
"""


def python(name):
    if name == "this":
        return sys.executable
    found = shutil.which(name)
    works = found and subprocess.run([found, "-c", ""], capture_output=True, check=False).returncode == 0
    return found if works else pytest.skip(f"NO {name} HERE; the one that runs the tests was tried")


@pytest.mark.parametrize("name", ["this", "python3.13"])
def test_each_test_tells_its_own_lines_in_functions(tmp_path, name):
    for folder in ("repo", "check", "out"):
        (tmp_path / folder).mkdir()
    (tmp_path / "repo" / "app.py").write_text(APP)
    (tmp_path / "repo" / "test_app.py").write_text(TESTS)
    for plugin in ("grace_witness.py", "grace_proof.py"):
        shutil.copy(INSIDE / plugin, tmp_path / "check" / plugin)
    (tmp_path / "check" / "word").write_text("word\n")
    only = [f"test_app.py::test_{each}" for each in ("one", "again", "class", "thread", "fails")]
    proof = {"only": only, "lines": {"app.py": [[1, 8]]}, "trace": 0}
    (tmp_path / "check" / "proof.json").write_text(json.dumps(proof))
    places = {f"GRACE_{name.upper()}": str(tmp_path / name) for name in ("check", "out", "repo")}
    env = {
        "PATH": os.environ["PATH"], "PYTHONPATH": f"{tmp_path / 'check'}:{SITE}", "PYTHONDONTWRITEBYTECODE": "1",
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTEST_ADDOPTS": "-p grace_witness", "GRACE_NUMBER": "0", **places,
    }  # fmt: skip
    command = [python(name), "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider"]
    done = subprocess.run(command, cwd=tmp_path / "repo", env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stdout + done.stderr
    (told,) = (tmp_path / "out").glob("*.told")
    found = {each.rpartition("_")[2]: facts for each, facts in json.loads(told.read_text()).items()}
    assert {each: facts["lines"] for each, facts in found.items()} == {
        "one": ["app.py:2", "app.py:3"],
        "again": ["app.py:2", "app.py:3"],
        "class": [],
        "thread": ["app.py:2", "app.py:4"],
        "fails": ["app.py:2", "app.py:4"],
    }
    assert found["fails"]["asserted"]
    assert found["fails"]["cause"].startswith("AssertionError")
