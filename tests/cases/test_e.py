"""Rows E: proof and merge. Agents that make everything look green are found out by what git and our own runs say."""

import json
import signal

import pytest
import yaml

TEST = "def test_{0}():\n    assert 1 + 1 == 2\n\n\ndef test_{0}_stays():\n    assert True\n"
OLD = "tests/test_{0}.py"
CHECK = "python3 -m pytest -q {0}"
FILE = "import pathlib; p = pathlib.Path('{0}'); t = p.read_text(); "

# E3: how a test goes away while every check stays green. The module may write the test file.
AWAY = {
    "Deletes": "p.unlink()",
    "Cuts": "p.write_text(t.split('def ')[0] + 'def ' + t.split('def ')[2])",
    "Renames": "p.write_text(t.replace('def test_{0}(', 'def tst_{0}('))",
    "Empties": "p.write_text(t.replace('assert 1 + 1 == 2', 'pass'))",
    "Weakens": "p.write_text(t.replace('assert 1 + 1 == 2', 'assert True'))",
    "Loosens": "p.write_text(t.replace('1 + 1 == 2', '1 + 1 >= 2'))",
    "Skips": "p.write_text('import pytest\\n\\n\\n@pytest.mark.skip\\n' + t)",
    "SkipsAll": "p.write_text('import pytest\\npytestmark = pytest.mark.skip\\n' + t)",
    "SkipsIf": "p.write_text('import pytest\\n\\n\\n@pytest.mark.skipif(True, reason=\"\")\\n' + t)",
    "SkipsInside": "p.write_text(t.replace('    assert 1 + 1', '    import pytest; pytest.skip()\\n    assert 1 + 1'))",
    "Expects": "p.write_text('import pytest\\n\\n\\n@pytest.mark.xfail\\n' + t)",
    "Returns": "p.write_text(t.replace('    assert 1 + 1', '    return\\n    assert 1 + 1'))",
    "Shadows": "p.write_text(t + '\\n\\ndef test_{0}():\\n    pass\\n')",
    "Undoes": "p.write_text(t + '\\n\\ndel test_{0}\\n')",
    "Hides": "p.write_text(t + '\\n\\ntest_{0}.__test__ = False\\n')",
    "Catches": "p.write_text(t.replace('assert 1 + 1 == 2',"
    " 'try:\\n        assert 1 + 1 == 2\\n    except AssertionError: pass'))",
}


def python(code):
    return {"kind": "command", "run": ["python3", "-c", code]}


def test_e3_tests_that_go_away_are_named_though_all_checks_pass(repo):
    files = {OLD.format(name.lower()): TEST.format(name.lower()) for name in AWAY}
    repo.commit("tests", files)
    modules, agents = {}, {}
    for name, change in AWAY.items():
        low = name.lower()
        path = OLD.format(low)
        agents[low] = python(FILE.format(path) + change.format(low))
        check = "python3 -m pytest -q tests; test $? -le 5" if name == "Deletes" else CHECK.format(path)
        verification = {"module_local_checks": [check]}
        modules[name] = {"agent": low, "write_scope": [path], "verification": verification}
    # One that touches no test: the product's code turns one off.
    flag = "import app.flag, pytest\n\n\n@pytest.mark.skipif(not app.flag.ON, reason='')\n"
    repo.commit("a flag", {"app/flag.py": "ON = True\n", "tests/test_product.py": flag + TEST.format("product")})
    verification = {"module_local_checks": ["python3 -m pytest -q tests/test_product.py"]}
    modules["Product"] = {"agent": "product", "write_scope": ["app/flag.py"], "verification": verification}
    agents["product"] = python("open('app/flag.py', 'w').write('ON = False\\n')")
    repo.plan(modules, agents=agents, defaults={"limits": {"attempts": 1}})
    head = repo.head
    repo.grace("run", "plan.yaml", "--yes").exits(1)
    assert repo.head == head
    missed = {}
    for module in repo.status()["modules"]:
        errors = [f for f in module["findings"] if f["severity"] == "error"]
        named = [f for f in errors if f["code"].startswith("verification.test_") and module["id"].lower() in str(f)]
        if module["state"] != "failed" or not named:
            missed[module["id"]] = (module["state"], [(f["code"], f["message"]) for f in module["findings"]])
    assert not missed, missed


# E9: product code that ends the runner or forges its report, and says all that the plan wants to hear.
MARK = "[Pricing][Engine][GUARD]"
FORGED = f'''import atexit, glob, os
body = """<testsuite><testcase file="tests/test_it.py" classname="tests.test_it" name="test_wanted">
<system-out>{MARK}</system-out></testcase></testsuite>"""
def forge():
    for stem in glob.glob(os.environ["GRACE_OUT"] + "/*.start"):
        open(stem[:-6] + ".xml", "w").write(body)
        open(stem[:-6] + ".end", "w").write("mark\\n{{}}")
    open(os.environ["GRACE_JUNIT"], "w").write(body)
    open(os.environ["GRACE_REPORTS"] + "/x.xml", "w").write(body)
    os._exit(0)
'''
WANTED = "import app.{0}\n\n\ndef test_wanted_{0}():\n    assert app.{0}.answer() == 42\n"
FORGERS = {
    "Leaves": (FORGED + "os._exit(0)\n", True),
    "Forges": (FORGED + "forge()\n", True),
    "Late": (FORGED + "atexit.register(forge)\n", True),
    "Invents": (FORGED + "forge()\n", False),  # no such test is written down
}


def module(low, files, check, **more):
    """Return an agent that writes the files, and a module that may write them and is expected to bring a scenario."""
    code = "; ".join(f"open({path!r}, 'a').write({text!r})" for path, text in files.items())
    verification = {"module_local_checks": [CHECK.format(check)], **more.pop("verification", {})}
    body = {"agent": low, "write_scope": list(files), "verification": verification, "optional": True, **more}
    return python(code), body


def test_e9_a_forged_report_is_caught(repo):
    old = {f"tests/test_{name.lower()}.py": "def test_old():\n    assert 1 + 1 == 2\n" for name in FORGERS}
    repo.commit("tests", {"app/__init__.py": "", **old})
    agents, modules = {}, {}
    for name, (product, written) in FORGERS.items():
        low = name.lower()
        path = f"tests/test_{low}.py"
        body = product.replace("test_it", f"test_{low}").replace("test_wanted", f"test_wanted_{low}")
        text = f"\n\n{WANTED.format(low)}" if written else "\n\nimport app.invents\n"
        agents[low], modules[name] = module(
            low,
            {f"app/{low}.py": body, path: text},
            path,
            verification={"required_markers": [MARK]},
            expected_deltas={"verification": [f"add scenario wanted_{low}"]},
        )
    repo.plan(modules, agents=agents, defaults={"limits": {"attempts": 1}})
    repo.grace("run", "plan.yaml", "--yes")
    for told in repo.status()["modules"]:
        found = {f["code"] for f in told["findings"] if f["severity"] == "error"}
        wanted = "scenario_missing" if told["id"] == "Invents" else "check_missing_evidence"
        assert told["state"] == "failed", told
        assert f"verification.{wanted}" in found, told


# E10: what a new test does on the sources of the base. Each module writes one test file, and product code of its own.
NEW = "def answer():\n    return 42\n"
HAS = "import importlib.util\n\n\ndef test_{0}():\n    "
USES = "from app.{0} import answer\n\n\ndef test_{0}():\n    "
TRIED = {
    "Imports": (USES + "answer()\n", "asserts nothing"),
    "Within": ("def test_{0}():\n    from app.{0} import answer\n    answer()\n", "asserts nothing"),
    "Elsewhere": (USES + "assert len(str(answer)) > 3\n", "runs no changed line"),
    "Green": ("def test_{0}():\n    assert 1 + 1 == 2\n", "passes on the base already"),
    "Uses": (USES + "assert answer() == 42\n", ""),
    "Fails": (HAS + "assert importlib.util.find_spec('app.{0}')\n", ""),
}


def test_e10_a_new_test_that_shows_nothing_is_named_and_not_accepted(repo):
    repo.commit("code", {"app/__init__.py": "", "tests/test_old.py": "def test_old():\n    assert 1 + 1 == 2\n"})
    agents, modules = {}, {}
    for name, (text, _) in TRIED.items():
        low = name.lower()
        path = f"tests/test_{low}.py"
        agents[low], modules[name] = module(
            low,
            {f"app/{low}.py": NEW, path: text.format(low)},
            path,
            expected_deltas={"verification": [f"add scenario {low}"]},
        )
    repo.plan(modules, agents=agents, defaults={"limits": {"attempts": 1}})
    repo.grace("run", "plan.yaml", "--yes").exits(0)
    missed = {}
    for told in repo.status()["modules"]:
        why = TRIED[told["id"]][1]
        unproved = [f["message"] for f in told["findings"] if f["code"] == "verification.unproved"]
        if bool(why) != bool(unproved) or told["state"] != ("failed" if why else "done") or why not in str(unproved):
            missed[told["id"]] = (told["state"], told["findings"])
    assert not missed, missed
    said = repo.grace("review").exits(0).out
    assert "proved   tests/test_uses.py::test_uses: cannot be run on the base" in said
    assert "runs app/uses.py:2" in said
    proofs = {r["module"]: r["verdict"]["proofs"] for r in repo.grace("review", "--json").exits(0).json["reviews"]}
    assert [(p["proved"], p["evidence"]) for p in proofs["Fails"]] == [(True, "assertion")]
    assert repo.leftovers() == []


def test_e10_killed_while_it_proves_it_proves_again_and_leaves_nothing(repo):
    """The third job of the run is the proof, after the worker and the checks."""
    repo.commit("code", {"app/__init__.py": ""})
    path = "tests/test_uses.py"
    text = TRIED["Uses"][0].format("uses")
    expected = {"verification": ["add scenario uses"]}
    agent, body = module("uses", {"app/uses.py": NEW, path: text}, path, expected_deltas=expected)
    repo.plan({"Uses": body}, agents={"uses": agent})
    killed = repo.grace("run", "plan.yaml", "--yes", GRACE_CRASH_AT="job.start.after:3")
    assert killed.code == -signal.SIGKILL, killed.said
    assert repo.module("Uses")["verdict"] is None, "it was killed before its verdict"
    assert list(repo.path.glob(".git/grace/runs/*/work/*-proof")), "it was killed while it proved"
    repo.grace("run", "plan.yaml", "--yes").exits(0)
    (review,) = repo.grace("review", "--json").exits(0).json["reviews"]
    assert (review["attempt"], [p["proved"] for p in review["verdict"]["proofs"]]) == (1, [True])
    assert repo.leftovers() == []


# E4: what the report claims although nothing of it is so. Each writes its own file honestly.
CLAIMS = {
    "Edges": {"graph_delta": {"edges_added": ["app.shop -> app.money"]}},
    "Nodes": {"graph_delta": {"nodes_added": ["app.invented"]}},
    "Gone": {"graph_delta": {"nodes_removed": ["app.shop"]}},
    "Cut": {"graph_delta": {"edges_removed": ["app/shop.py::Shop -> Moneys"]}},
    "Files": {"files_changed": ["src/files.txt", "src/never.txt"]},
    "Checks": {"checks_passed": ["pytest -q tests/test_never.py"]},
    "Scenarios": {"verification_delta": {"scenarios_added": ["tests/test_x.py::test_invented"]}},
    "Removed": {"verification_delta": {"scenarios_removed": ["tests/test_x.py::test_x"]}},
    "Markers": {"verification_delta": {"markers_added": ["[Never][Logged]"]}},
}


def test_e4_each_false_claim_is_a_finding(repo):
    repo.commit(
        "code",
        {
            "app/shop.py": "class Shop:\n    pass\n", "app/money.py": "class Money:\n    pass\n",
            "tests/test_x.py": "def test_x():\n    assert 1\n",
        },
    )  # fmt: skip
    modules = {}
    for name, claim in CLAIMS.items():
        report = json.dumps({"status": "done", **claim})
        path = f"src/{name.lower()}.txt"
        shell = f"echo x > {path}; printf %s '{report}' > $GRACE_OUT/report.json"
        modules[name] = {"shell": shell, "write_scope": [path]}
    repo.plan(modules, defaults={"limits": {"attempts": 1}})
    repo.grace("run", "plan.yaml", "--yes").exits(1)
    for module in repo.status()["modules"]:
        claim = json.dumps(CLAIMS[module["id"]])
        false = [f for f in module["findings"] if f["code"] == "claims.false" and f["severity"] == "error"]
        assert false, (module["id"], module["state"], module["findings"])
        assert any(word in str(false) for word in ("invented", "never", "Never", "app", "test_x")), (claim, false)
    for review in repo.grace("review", "--json").exits(0).json["reviews"]:
        untrue = [row for row in review["facts"] if row["state"] == "untrue"]
        kinds = {row["kind"] for row in untrue}
        wanted = {"Edges": "graph", "Nodes": "graph", "Gone": "graph", "Cut": "graph", "Markers": "marker"}
        assert kinds <= {wanted.get(review["module"], "scenario")}, review["facts"]
        assert kinds or review["module"] in {"Files", "Checks"}, "the table shows each false claim as a row"
        assert all(row["claimed"] and not row["expected"] and row["actual"] is False for row in untrue)
    text = repo.grace("review", repo.status()["run_id"], "Cut").exits(0).out
    assert "  !    -       yes     NO    not app/shop.py::Shop -> Moneys  untrue" in text
    assert "no name Moneys in the base; did you mean Money (app/money.py:1)?" in text


# E5: what judges the work. Each module's scope is a folder with the file in it, never the file's own name.
JUDGES = {
    "Conftest": "a/conftest.py",
    "Ini": "b/pytest.ini",
    "Project": "c/pyproject.toml",
    "Script": "d/check.sh",  # named by its own check
    "Phase": "e/phase.sh",  # named by the phase's check
    "Wave": "f/wave.sh",  # named by the wave's check
    "Make": "g/Makefile",  # what its check runs without naming it
    "Other": "h/test_other.py",  # named by another module's check
    "Case": "i/ConfTest.py",
    "Lock": "j/poetry.lock",
    "New": "k/conftest.py",  # not there before
    "Gone": "l/tox.ini",
}


def test_e5_what_judges_is_protected_unless_the_plan_names_that_very_file(repo):
    green = "#!/bin/sh\ntrue\n"
    there = {path: green if path.endswith(".sh") else "" for path in JUDGES.values() if path != JUDGES["New"]}
    repo.commit("judges", {**there, "g/Makefile": "test:\n\ttrue\n", "named/pytest.ini": "[pytest]\n"})
    modules = {}
    for name, path in JUDGES.items():
        shell = f"rm {path}" if name == "Gone" else f"echo '# mine' >> {path}"
        modules[name] = {"shell": shell, "write_scope": [path.partition("/")[0] + "/"], "optional": True}
    modules["Named"] = {"shell": "echo '# mine' >> named/pytest.ini", "write_scope": ["named/pytest.ini"]}
    for name, check in {
        "Script": "sh d/check.sh",
        "Make": "make -C g test",
        "Named": "test -f h/test_other.py",
    }.items():
        modules[name]["verification"] = {"module_local_checks": [check]}
    path = repo.plan(modules, checks=["sh e/phase.sh"], defaults={"limits": {"attempts": 1}})
    plan = yaml.safe_load(path.read_text())
    plan["phases"][0]["wave_checks"] = ["sh f/wave.sh"]
    path.write_text(yaml.safe_dump(plan, sort_keys=False))
    repo.commit("the plan")

    repo.grace("run", "plan.yaml", "--yes").exits(0)

    found = {m["id"]: (m["state"], {f["code"]: f["path"] for f in m["findings"]}) for m in repo.status()["modules"]}
    assert found.pop("Named")[0] == "done"
    missed = {name: said for name, said in found.items() if said[1].get("scope.protected") != JUDGES[name]}
    assert not missed, missed
    assert {state for state, _ in found.values()} == {"failed"}


def test_e8_a_merge_that_was_made_but_not_recorded_is_made_once(repo, lives):
    """The controller dies between moving the integration branch and writing that down, and again at the landing."""
    repo.plan({m: {"shell": f"echo x > src/{m}.txt", "write_scope": [f"src/{m}.txt"]} for m in ("A", "B")})
    start = repo.head
    for effect in ("integration from", "integration from", "refs/heads/main from"):
        code, _, said = lives(repo, "run", "plan.yaml", "--yes", at=effect)
        assert code == -signal.SIGKILL, said
    code, _, said = lives(repo, "run", "plan.yaml", "--yes")
    assert code == 0, said
    merged = repo.git("log", "--format=%(trailers:key=Grace-Module,valueonly,separator=%x2C)", f"{start}..main").split()
    assert sorted(merged) == ["A", "B"]
    assert {m["state"] for m in repo.status()["modules"]} == {"done"}
    assert repo.leftovers() == []


MONEY = "def total(prices):\n    return sum(prices)\n\n\ndef currency():\n    return 'EUR'\n"
REPORT = "from app import money\n\n\ndef head():\n    return money.currency()\n"
RENAME = (
    "import pathlib; p = pathlib.Path('app/money.py'); p.write_text(p.read_text().replace('def total', 'def amount'));"
    "p = pathlib.Path('tests/test_money.py'); p.write_text(p.read_text().replace('total', 'amount'))"
)
CALL = (
    "import json, os, pathlib;"
    "told = json.load(open(os.environ['GRACE_PACKET_JSON']))['execution_packet']['findings'];"
    "name = 'amount' if told and {learns} else 'total';"
    "pathlib.Path('app/report.py').write_text(pathlib.Path('app/report.py').read_text()"
    " + f'\\n\\ndef foot(prices):\\n    return money.{{name}}(prices)\\n');"
    "pathlib.Path('tests/test_report.py').write_text('from app import report\\n\\n\\ndef test_foot():\\n"
    "    assert report.foot([1, 2]) == 3\\n')"
)


@pytest.mark.parametrize(("engine", "learns"), [("docker", False), ("bubblewrap", True)])
def test_e1_two_that_are_green_alone_and_red_together(repo, engine, learns, request):
    """A renames a function, B adds a call to its old name; the module that was merged second is undone, A stays."""
    if engine == "docker":
        request.getfixturevalue("docker_engine")
    test = "from app.money import total\n\n\ndef test_sum():\n    assert total([1, 2]) == 3\n"
    repo.commit("code", {"app/money.py": MONEY, "app/report.py": REPORT, "tests/test_money.py": test})
    modules = {
        "A": {
            "agent": "a",
            "write_scope": ["app/money.py", "tests/test_money.py"],
            "expected_deltas": {"verification": ["change scenario sum"]},
        },
        "B": {"agent": "b", "write_scope": ["app/report.py", "tests/test_report.py"], "optional": True},
        "C": {"shell": "echo c > src/c.txt", "write_scope": ["src/c.txt"]},
    }
    for name, of in (("A", "money"), ("B", "report")):
        modules[name]["verification"] = {"module_local_checks": [f"python3 -m pytest -q tests/test_{of}.py"]}
    agents = {"a": python(RENAME), "b": python(CALL.format(learns=learns))}
    attempts = 2 if learns else 1
    repo.plan(modules, agents=agents, sandbox=engine, defaults={"limits": {"attempts": attempts}})
    start = repo.head
    lines = repo.grace("run", "plan.yaml", "--yes", "--json").exits(0).events

    judged = [(e["module"], e["data"]["decision"]) for e in lines if e["type"] == "attempt.judged"]
    assert {("A", "accept"), ("B", "accept"), ("C", "accept")} <= set(judged), "each is green alone"
    red = [e["data"] for e in lines if e["type"] == "refresh.done" and not e["data"]["green"]]
    assert [(r["level"], r["culprit"]) for r in red] == [("wave", "B")]
    assert "turns red when B is added" in red[0]["message"]
    assert "AttributeError" in str(red[0]["findings"])
    nowhere = "app/report.py:9 names money.total, which leads nowhere any more: it was app/money.py::total"
    assert nowhere in red[0]["findings"][0], "and the graph says where"
    # B's check counts from B on: not before, not with A alone, and with all three it is known to be red.
    assert red[0]["bisection"] == {"merges": 3, "tried": 1, "known": 0}
    (undone,) = [e["data"] for e in lines if e["type"] == "undo.done"]
    assert undone["modules"] == ["B"]
    assert repo.refs().keys() >= {f"refs/grace/rescue/{lines[0]['run_id']}/B/1"}

    states = {m["id"]: m["state"] for m in repo.status()["modules"]}
    assert states == {"A": "done", "B": "done" if learns else "failed", "C": "done"}
    assert "def amount" in repo.show("app/money.py", "main")
    report = repo.show("app/report.py", "main")
    assert ("money.amount" in report) == learns
    assert "money.total" not in report
    merged = repo.git("log", "--format=%(trailers:key=Grace-Module,valueonly,separator=%x2C)", f"{start}..main").split()
    assert sorted(merged) == (["A", "B", "C"] if learns else ["A", "C"])
    assert repo.leftovers() == []
