"""Proposed modules as the text of a plan that passes the check."""

import subprocess

import pytest

from controller.main import run
from controller.plan.communities import Proposal
from controller.plan.load import load_plan
from controller.plan.proposals import named, proposed
from controller.plan.survey import Survey

PYTHON = Survey("Python", ("src/",), "python3 -m pytest -q", "")


def one(*files, tests=(), scope=(), depends_on=(), heart=""):
    return Proposal(heart or files[0], files, tests, scope or files, depends_on)


def test_names_say_the_folder_or_the_heart_and_are_unique():
    found = [
        one("src/app/pricing/a.py", "src/app/pricing/b.py", scope=("src/app/pricing/",)),
        one("src/app/core.py", "src/app/types.py", heart="src/app/types.py"),
        one("src/app/Types.py"),
        one("1/2.py"),
    ]
    assert named(found) == ["AppPricing", "AppTypes", "AppTypes2", "Part12"]


def test_a_check_names_test_files_or_the_folder_that_may_be_written():
    tests = ("tests/test_a.py", "tests/deep/test_b.py", "tests/deep/helper.py")
    text = proposed([one("a.py", tests=tests, scope=("a.py", "tests/test_a.py", "tests/deep/"))], PYTHON)
    assert '["python3 -m pytest -q tests/deep/ tests/test_a.py"]' in text.replace(
        "tests/test_a.py tests/deep/", "tests/deep/ tests/test_a.py"
    )
    assert "helper.py" not in text


def test_go_names_folders():
    go = Survey("Go", ("./",), "go test ./...", "")
    assert "[go test ./pkg]" in proposed([one("pkg/a.go", tests=("pkg/a_test.go",))], go).replace('"', "")


@pytest.fixture
def shop(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    files = {}
    for folder, names in {"pricing": ["money", "tax"], "orders": ["cart", "pay"]}.items():
        for name in names:
            others = "".join(f"from {folder}.{o} import {o}\n" for o in names if o != name)
            files[f"{folder}/{name}.py"] = f"{others}def {name}(): ...\n"
        files[f"{folder}/__init__.py"] = ""
        files[f"tests/test_{names[0]}.py"] = f"from {folder}.{names[0]} import {names[0]}\ndef test_x(): {names[0]}()\n"
    files["orders/pay.py"] += "from pricing.tax import tax\n"
    files["orders/it's: odd.py"] = "from orders.pay import pay\n"
    for path, text in files.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(text)
    for args in (["init", "-q"], ["add", "-A"], ["-c", "user.name=t", "-c", "user.email=t@t", "commit", "-qm", "x"]):
        subprocess.run(["git", *args], check=True)
    return tmp_path


def test_init_proposes_modules_that_pass_the_check(shop, capsys):
    assert run(["init"]) == 0
    assert "2 modules" in capsys.readouterr().out
    assert run(["plan", "check"]) == 0
    out, err = capsys.readouterr()
    assert "warning" not in out + err
    modules = {module.id: module for module in load_plan(shop / "plan.yaml").plan.modules()}
    assert set(modules) == {"Pricing", "Orders"}
    assert modules["Orders"].depends_on == ("Pricing",)
    assert modules["Orders"].write_scope == ("orders/", "tests/test_cart.py")
    assert modules["Orders"].verification.module_local_checks == ("python3 -m pytest -q tests/test_cart.py",)
    assert (shop / "plan.yaml").read_text().endswith("\n")
