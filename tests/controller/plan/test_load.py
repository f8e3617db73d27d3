"""Loading: every fault of a plan's keys, at its place, with what to do; and the digest."""

import json
import os
import time

import pytest

from controller.plan.load import load_plan
from controller.plan.places import MAX_PROBLEMS
from packets.errors import UsageError

KEYS = """\
version: 2
name: bro ken
bese: main
agents:
  a: {kind: patch, patch: a.diff, path: 3}
  b: {kind: comand}
  c: {run: [x]}
  d: {kind: command, run: ls, env: {PORT: 8000}}
modules_map: {"A B": [x], Old: [y]}
approval_timeout: 3 weeks
defaults: {profile: saef, limits: {memory: lots, cpus: 0}}
land: {branch: "a..b"}
commit: {author: nobody}
base: -x
phases:
  - id: one
    checks:
    modules:
      - id: A
        write_scope: src/a.txt
        optional: yes
        module_local_checks: [x]
      - {id: B, purpose: 5, agent: a, write_scope: [/abs, fine.py], notes: [null, 3, " "]}
"""
EXPECTED = [
    (1, 10, "plan.bad_value", "expected 1, got the number 2", ""),
    (2, 7, "plan.bad_value", "bad name 'bro ken'", ""),
    (3, 1, "plan.unknown_key", "unknown key `bese`", "did you mean `base`?"),
    (5, 35, "plan.unknown_key", "unknown key `path` in `a`", "did you mean `patch`?"),
    (6, 13, "plan.bad_value", "`kind` is one of: command, patch", "did you mean `command`?"),
    (7, 3, "plan.missing_key", "`c` needs the key `kind`", ""),
    (8, 27, "plan.bad_value", "expected a list, got the text 'ls'", 'write ["ls"]'),
    (8, 43, "plan.bad_value", "expected text, got the number 8000", 'put it in quotes: "8000"'),
    (9, 15, "plan.bad_value", "bad module id 'A B'", ""),
    (10, 19, "plan.bad_value", "90s, 30m, 1h or 1d", ""),
    (11, 21, "plan.bad_value", "expected safe, balanced or fast, got the text 'saef'", "did you mean `safe`?"),
    (11, 44, "plan.bad_value", "512m or 2g", ""),
    (11, 56, "plan.bad_value", "greater than 0", ""),
    (12, 16, "plan.bad_value", "bad branch name 'a..b'", ""),
    (13, 18, "plan.bad_value", "write `Name <mail>`", ""),
    (14, 7, "plan.bad_value", "bad revision '-x'", ""),
    (17, 5, "plan.bad_value", "expected a list, got nothing", "give it a value, or leave the key out"),
    (19, 9, "plan.missing_key", "`modules[1]` needs the key `purpose`", ""),
    (20, 22, "plan.bad_value", "expected a list, got the text 'src/a.txt'", 'write ["src/a.txt"]'),
    (21, 19, "plan.bad_value", "expected true or false, got the text 'yes'", "write true"),
    (22, 9, "plan.unknown_key", "`module_local_checks` in `modules[1]`", "it belongs in `verification`"),
    (23, 26, "plan.bad_value", "expected text, got the number 5", 'put it in quotes: "5"'),
    (23, 53, "plan.bad_value", "`write_scope[1]`: '/abs' is absolute", ""),
    (23, 77, "plan.bad_value", "`notes[1]`: expected text, got nothing", ""),
    (23, 83, "plan.bad_value", "`notes[2]`: expected text, got the number 3", 'put it in quotes: "3"'),
    (23, 86, "plan.bad_value", "`notes[3]`: expected something besides blanks", ""),
]


def test_every_fault_of_the_keys_at_its_place(desk):
    (desk.folder / "a.diff").touch()
    found = desk.refused(KEYS)
    assert [(p.line, p.column, p.code) for p in found] == [expected[:3] for expected in EXPECTED]
    for problem, (*_, message, hint) in zip(found, EXPECTED, strict=True):
        assert message in problem.message
        assert hint in problem.hint
        assert problem.file == str(desk.path)
        assert "\n" not in problem.text()


def test_faults_of_keys_and_of_words_come_at_once(desk):
    """Five faults of different kinds, from the keys and from what only the whole plan shows: five lines."""
    found = desk.refused(
        "version: 1\nname: broken\ncolour: red\nagents:\n  a: {kind: command, run: [x]}\nphases:\n"
        "  - id: one\n    checks: [x]\n    modules:\n"
        "      - {id: A, purpose: x, write_scope: [a/], depends_on: [B]}\n"
        "      - {id: B, purpose: x, write_scope: [b/], depends_on: [A, Nobody]}\n"
        "      - {id: C, purpose: x, write_scope: [d/, ../x]}\n"
        "      - {id: D, purpose: x, write_scope: [d/x.py]}\n"
        "      - {id: A, purpose: x, write_scope: [e/]}\n"
    )
    assert [(p.line, p.code) for p in found] == [
        (3, "plan.unknown_key"),
        (10, "plan.cycle"),
        (11, "plan.unknown_dependency"),
        (12, "plan.bad_value"),
        (13, "plan.scope_overlap"),
        (14, "plan.duplicate_id"),
    ]


@pytest.mark.parametrize(
    "fault",
    [
        {"id": "B", "write_scope": ["b/"]},
        {"id": "B", "purpose": "x"},
        {"id": "B", "purpose": 3, "write_scope": ["b/"], "extra": 1},
        {"id": "B", "purpose": "x", "write_scope": []},
        {"id": "B", "purpose": "x", "write_scope": ["b/"], "depends_on": [3, "A"]},
        {"id": "B", "purpose": "x", "write_scope": ["b/"], "agent": 3},
        {"id": "B", "purpose": "x", "write_scope": "b/", "depends_on": "A"},
    ],
)
def test_what_is_left_out_makes_no_second_fault(desk, plan, fault):
    """Others depend on the faulty module, and it orders two that overlap: neither may look wrong."""
    given = plan({"A": {"write_scope": ["a/"]}, "C": {"write_scope": ["a/x"], "depends_on": ["B"]}})
    given["phases"][0]["modules"].insert(1, {"depends_on": ["A"], **fault})
    assert {
        p.line
        for p in desk.refused(json.dumps(given, indent=1))
        if p.code not in ("plan.bad_value", "plan.missing_key")
    } == (
        {next(n for n, line in enumerate(json.dumps(given, indent=1).splitlines(), 1) if '"extra"' in line)}
        if "extra" in fault
        else set()
    )


def test_a_faulty_agent_is_still_an_agent(desk, plan):
    assert [p.code for p in desk.refused(plan({"A": {"agent": "x"}}, agents={"x": {"kind": "command"}}))] == [
        "plan.missing_key"
    ]


@pytest.mark.parametrize("text", ["- a\n- b\n", "just text\n", "42\n"])
def test_a_plan_is_keys_with_values(desk, text):
    (problem,) = desk.refused(text)
    assert (problem.line, problem.column, problem.code) == (1, 1, "plan.bad_value")
    assert "keys with values" in problem.message


def test_an_empty_mapping_names_what_it_needs(desk):
    assert [p.message for p in desk.refused("{}\n")] == [
        f"the plan needs the key `{key}`" for key in ("name", "phases", "version")
    ]


def test_dates_numbers_and_truths_as_ids(desk, plan):
    ids = ["010", "2024-01-01", "yes", "1e", "on", "null.x"]
    given = json.dumps(plan({name: {} for name in ids})).replace('"010"', "010").replace('"2024-01-01"', "2024-01-01")
    assert [m.id for m in desk.load(given.replace('"yes"', "yes").replace('"on"', "on")).plan.modules()] == ids
    for number in ("1", "true", "1.5", "null"):
        given = json.dumps(plan({"X": {}})).replace('"id": "X"', f'"id": {number}')
        (problem,) = desk.refused(given)
        assert problem.code == "plan.bad_value"


def test_a_thousand_faults_are_bounded_in_number_and_time(desk, plan):
    given = plan({f"M{i}": {"purpose": 1, "extra": 2, "notes": [None]} for i in range(3000)})
    start = time.process_time()
    found = desk.refused(given)
    assert time.process_time() - start < 20  # nearly all of it is writing the plan
    assert len(found) == MAX_PROBLEMS + 1
    assert found[-1].code == "plan.more"


def test_a_large_plan_is_quick(desk, plan):
    text = json.dumps(plan({f"M{i}": {"write_scope": [f"src/m{i}.py", f"tests/m{i}/"]} for i in range(1500)}))
    desk.write(text)
    start = time.process_time()
    assert len(load_plan(desk.path).plan.modules()) == 1500
    assert time.process_time() - start < 3


def test_no_file_no_folder_no_pipe(desk):
    with pytest.raises(UsageError, match=r"no plan at .*plan\.yaml") as missing:
        load_plan(desk.path)
    assert "grace init" in missing.value.hint
    with pytest.raises(UsageError, match="is no file"):
        load_plan(desk.folder)
    os.mkfifo(desk.path)
    with pytest.raises(UsageError, match="is no file"):
        load_plan(desk.path)
    with pytest.raises(UsageError):
        load_plan(desk.folder / ("x" * 300))


def test_the_digest_is_of_what_the_plan_says(desk, plan):
    given = plan({"A": {"notes": ["n"]}}, defaults={"limits": {"deadline": "1h"}})
    first = desk.load(json.dumps(given))
    again = desk.load("# a comment\n" + json.dumps(dict(reversed(given.items())), indent=3))
    spelled = desk.load(json.dumps(given).replace('"1h"', '"3600s"'))
    assert first.digest == again.digest == spelled.digest
    assert first.digest.startswith("sha256:")
    for old, new in (('"n"', '"m"'), ('"1h"', '"2h"'), ('"true"', '"false"'), ('"work"', '"Work"')):
        assert desk.load(json.dumps(given).replace(old, new, 1)).digest != first.digest
    assert again.text.startswith(b"# a comment")
    assert again.path == desk.path


def test_the_same_plan_in_another_order_of_modules_is_another_plan(desk, plan):
    assert desk.load(plan({"A": {}, "B": {}})).digest != desk.load(plan({"B": {}, "A": {}})).digest
