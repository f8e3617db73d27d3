"""What a person sees of a plan: each form says the waves and why, the scopes, and where somebody is asked."""

import json
import re

import pytest

from controller.plan.outline import outline
from controller.plan.show import FORMATS


@pytest.fixture
def shown(desk, phases):
    given = phases(
        {
            "Pricing/Money": {"write_scope": ['odd "name"|<b>.py', "a\\*b", *(f"m{i}/" for i in range(6))]},
            "Tax": {"depends_on": ["Pricing/Money", "Old"], "optional": True},
        },
        {"Report": {"depends_on": ["Tax"]}},
        modules_map={"Old": ["old.py"]},
    )

    def make(profile="balanced"):
        return outline(desk.load({**given, "defaults": {"profile": profile}}))

    return make


def test_text_says_all_of_it(shown):
    text = FORMATS["text"](shown())
    for part in (
        "3 modules, 3 waves, 2 phases",
        "why here: after Pricing/Money (wave 1)",
        'may write: odd "name"|<b>.py, a\\*b, m0/',
        "Tax (optional)",
        "agent: a runs true, 3 attempts at most",
        "check: true",
        "asks before the merges of wave 2",
        "asks before phase phase2 lands",
    ):
        assert part in text


def test_permissions_say_where_a_person_is_asked_too(desk, plan):
    given = plan(
        {"A": {"permissions": {"write": "ask"}}, "B": {}},
        permissions={"land": "deny"},
        push="origin",
        on_landed=["make deploy"],
        defaults={"profile": "fast"},
    )
    told = outline(desk.load(given))
    assert told["phases"][0]["waves"][0]["asks"] == ["before A is merged"]
    assert told["phases"][0]["asks"] == [
        "you to land phase one by hand",
        "before phase one is pushed to origin, also under --yes",
        "before `make deploy` runs when phase one has landed, also under --yes",
    ]
    assert (told["push"], told["on_landed"]) == ("origin", ["make deploy"])
    assert (told["permissions"]["land"], told["permissions"]["network"]) == ("deny", "deny")
    text = FORMATS["text"](told)
    assert "? asks before phase one is pushed to origin, also under --yes" in text
    assert (
        "a person is asked before some modules' merges, to land by hand, before each push and before each landing hook"
        in text
    )


def test_land_auto_under_fast_asks_nothing(desk, plan):
    told = outline(desk.load(plan({"A": {}}, permissions={"land": "auto"}, defaults={"profile": "fast"})))
    assert (told["asked"], told["phases"][0]["asks"]) == ("nothing", [])


def test_a_module_that_is_asked_for_alone_needs_no_question_of_its_wave(desk, plan):
    told = outline(desk.load(plan({"A": {}}, permissions={"write": "ask"})))
    assert told["phases"][0]["waves"][0]["asks"] == ["before A is merged"]


@pytest.mark.parametrize(
    ("profile", "asked"),
    [
        ("safe", ["before Pricing/Money is merged", "before Tax is merged", "before Report is merged"]),
        ("balanced", ["before the merges of wave 1", "before the merges of wave 2", "before the merges of wave 3"]),
        ("fast", []),
    ],
)
def test_where_a_person_is_asked(shown, profile, asked):
    told = shown(profile)
    assert [question for phase in told["phases"] for wave in phase["waves"] for question in wave["asks"]] == asked
    assert [question for phase in told["phases"] for question in phase["asks"]] == [
        "before phase phase1 lands",
        "before phase phase2 lands",
    ]


def test_json_is_one_object(shown):
    told = json.loads(FORMATS["json"](shown()))
    assert [wave["number"] for phase in told["phases"] for wave in phase["waves"]] == [1, 2, 3]
    assert told["digest"].startswith("sha256:")
    assert told["phases"][0]["waves"][1]["modules"][0]["reason"] == "Tax: after Pricing/Money (wave 1)"


def test_mermaid_is_well_formed(shown):
    lines = FORMATS["mermaid"](shown()).splitlines()
    assert lines[0] == "flowchart LR"
    label = re.compile(r"[\w /.,…#;<>-]*")
    nodes = set()
    for line in lines[1:]:
        if node := re.fullmatch(r'\s+(\w+)(?:\["(.*)"\]|\(\["(.*)"\]\))', line):
            nodes.add(node[1])
            said = node[2] or node[3]
            assert label.fullmatch(said), said
            assert not re.search(r"<(?!br/>)", said), said
        elif edge := re.fullmatch(r"  (\w+) --> (\w+)", line):
            assert {edge[1], edge[2]} <= nodes
        else:
            assert re.fullmatch(r'  subgraph w\d+\["[\w ,]+"\]|  end', line), line
    assert len(nodes) == 4
    assert "… and 4 more" in "".join(lines)


def test_dot_is_well_formed(shown):
    text = FORMATS["dot"](shown())
    quoted = re.compile(r'"(?:[^"\\]|\\.)*"')
    assert r"odd \"name\"|<b>.py" in text
    assert r"a\\*b" in text
    bare = quoted.sub("Q", text)
    assert '"' not in bare
    assert bare.count("{") == bare.count("}") == 4
    assert re.findall(r"m\d+ -> m\d+", bare) == ["m0 -> m1", "m3 -> m1", "m1 -> m2"]
