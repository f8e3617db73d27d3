"""Values that cross rooms: what they take, what they refuse, what they are bound to."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from packets.agent import CommandAgent
from packets.deltas import GraphVerb, parse_graph, parse_verification
from packets.events import Shape
from packets.ids import module_id_fault, slug
from packets.limits import Limits, LimitsPatch
from packets.packet import AgentChoice, Base, ExecutionPacket
from packets.value import Duration, Size, Value
from packets.verdict import CheckResult, Decision, Finding, Severity, Verdict

DURATION, SIZE = TypeAdapter(Duration), TypeAdapter(Size)


# --- value ----------------------------------------------------------------------------------------------------------


class Point(Value):
    x: int
    names: tuple[str, ...] = ()


def test_a_value_is_frozen_strict_and_knows_all_its_keys() -> None:
    point = Point.model_validate_json('{"x": 1, "names": ["a"]}')
    assert point.names == ("a",)
    with pytest.raises(ValidationError):
        point.x = 2  # type: ignore[misc]
    for wrong in ('{"x": "1"}', '{"x": 1.5}', '{"x": true}', '{"x": 1, "y": 2}', '{"names": []}'):
        with pytest.raises(ValidationError):
            Point.model_validate_json(wrong)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [(5, 5), ("5", 5), ("90s", 90), ("30m", 1800), ("1h", 3600), ("1d", 86400), ("1.5h", 5400), (" 2 H ", 7200)],
)
def test_durations(text: object, seconds: int) -> None:
    assert DURATION.validate_python(text) == seconds


@pytest.mark.parametrize(
    "text",
    [
        0,
        -1,
        "0s",
        "-5m",
        "",
        "h",
        "1w",
        "1h30m",
        "1_000s",
        "\u0661s",
        "nan",
        "inf",
        True,
        None,
        [1],
        "1e3",
        "367d",
        "9" * 13,
    ],
)
def test_durations_that_are_none(text: object) -> None:
    with pytest.raises(ValidationError):
        DURATION.validate_python(text)


@pytest.mark.parametrize(
    ("text", "size"),
    [(7, 7), ("7b", 7), ("1k", 1024), ("512m", 512 << 20), ("2g", 2 << 30), ("0.5G", 1 << 29), ("1t", 1 << 40)],
)
def test_sizes(text: object, size: int) -> None:
    assert SIZE.validate_python(text) == size


@pytest.mark.parametrize("text", [0, "0g", "2gb", "2x", "-1m", False, {}, "1025t"])
def test_sizes_that_are_none(text: object) -> None:
    with pytest.raises(ValidationError):
        SIZE.validate_python(text)


# --- limits ---------------------------------------------------------------------------------------------------------


def test_a_patch_changes_only_what_it_names() -> None:
    patch = LimitsPatch.model_validate_json('{"deadline": "10m", "strict": true, "memory": "1g"}')
    made = patch.over(Limits(attempts=7))
    assert (made.deadline, made.strict, made.memory, made.attempts) == (600, True, 1 << 30, 7)
    assert LimitsPatch().over(made) == made


def test_a_patch_can_say_no() -> None:
    assert LimitsPatch(strict=False).over(Limits(strict=True)).strict is False


def test_every_limit_can_be_patched_under_the_same_bounds() -> None:
    assert set(LimitsPatch.model_fields) == set(Limits.model_fields)
    for key, bad in {"attempts": 0, "iterations": 0, "pids": 7, "cpus": 0.0, "tokens": 0, "cost_usd": -1.0}.items():
        for kind in (Limits, LimitsPatch):
            with pytest.raises(ValidationError):
                kind.model_validate_json(json.dumps({key: bad}))


# --- ids ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name", ["a", "Pricing/DiscountEngine", "v1.2", "a-b_c/9", "x" * 100, "attempt", "attempt-x", "a.b/c"]
)
def test_ids(name: str) -> None:
    assert module_id_fault(name) is None


@pytest.mark.parametrize(
    "name",
    [
        "", "/", "a/", "/a", "a//b", ".a", "-a", "a/.b", "a/-b", "a b", "a\n", "é", "a:b", "a~1", "a^", "a?", "a*",
        "a[", "a\\b", "a@{b", "x" * 101, "a.lock", "a.lock/b", "a..b", "..", "a/..", "a.", "a./b", "integration",
        "integration/a", "attempt-1", "a/attempt-12", "a/attempt-1/b",
    ],
)  # fmt: skip
def test_ids_that_cannot_be_branches(name: str) -> None:
    assert module_id_fault(name)


@given(st.text(alphabet="ab/.-_ 1~^:\\*[?@{\n", max_size=12))
def test_an_id_that_passes_has_none_of_what_git_refuses(name: str) -> None:
    if module_id_fault(name) is None:
        assert not set(name) & set(" ~^:\\*[?@{\n")
        assert all(p and p[0] not in ".-_" and not p.endswith((".", ".lock")) for p in name.split("/"))
        assert ".." not in name


def test_slugs() -> None:
    assert slug("Pricing/Discount-Engine") == "Pricing--Discount-Engine"


# --- deltas ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "verb", "source", "target"),
    [
        ("A -> B", GraphVerb.EDGE_ADDED, "A", "B"),
        ("not A -> B", GraphVerb.EDGE_REMOVED, "A", "B"),
        ("  app/a.py   ->  app/b.py ", GraphVerb.EDGE_ADDED, "app/a.py", "app/b.py"),
        ("app/my file.py -> B", GraphVerb.EDGE_ADDED, "app/my file.py", "B"),
        ("add Pricing/Money", GraphVerb.NODE_ADDED, "Pricing/Money", ""),
        ("remove app.money.Money", GraphVerb.NODE_REMOVED, "app.money.Money", ""),
    ],
)
def test_graph_lines(line: str, verb: GraphVerb, source: str, target: str) -> None:
    parsed = parse_graph(line)
    assert (parsed.text, parsed.verb, parsed.source, parsed.target) == (line, verb, source, target)


@pytest.mark.parametrize(
    "line",
    [
        "",
        "A",
        "A->B",
        "A -> ",
        "-> B",
        "A -> B -> C",
        "A => B",
        "not A",
        "add",
        "add A B",
        "delete A",
        "Add A",
        "add A -> B",
        "not add A -> B",
    ],
)
def test_graph_lines_that_nobody_can_read(line: str) -> None:
    with pytest.raises(ValueError, match="write `A -> B`, `not A -> B`, `add A` or `remove A`"):
        parse_graph(line)


@pytest.mark.parametrize(
    ("line", "verb", "kind", "name"),
    [
        ("add scenario seasonal_coupon", "add", "scenario", "seasonal_coupon"),
        ("remove scenario a title with words", "remove", "scenario", "a title with words"),
        ("change scenario x", "change", "scenario", "x"),
        ("add marker [Pricing][Engine][GUARD]", "add", "marker", "[Pricing][Engine][GUARD]"),
        ("remove check pytest -q tests", "remove", "check", "pytest -q tests"),
    ],
)
def test_verification_lines(line: str, verb: str, kind: str, name: str) -> None:
    parsed = parse_verification(f" {line} ")
    assert (parsed.verb, parsed.kind, parsed.name) == (verb, kind, name)


@pytest.mark.parametrize(
    "line",
    [
        "",
        "add scenario",
        "add scenario ",
        "change marker [X]",
        "change check c",
        "drop scenario x",
        "add test x",
        "scenario x",
    ],
)
def test_verification_lines_that_nobody_can_read(line: str) -> None:
    with pytest.raises(ValueError, match="cannot read"):
        parse_verification(line)


def test_an_error_quotes_a_bounded_piece() -> None:
    for parse in (parse_graph, parse_verification):
        with pytest.raises(ValueError) as caught:
            parse("x" * 100_000)
        assert len(str(caught.value)) < 300


# --- packet ---------------------------------------------------------------------------------------------------------


def packet(**changes: object) -> ExecutionPacket:
    agent = AgentChoice(name="x", spec=CommandAgent(kind="command", run=("true",)))
    body: dict[str, object] = {
        "run_id": "r1", "phase": "p", "wave": 1, "attempt": 1, "base": Base(commit="c1", tree="t1"),
        "plan_digest": "sha256:1", "module_id": "A", "purpose": "do it", "write_scope": ("a.py",), "agent": agent,
    }  # fmt: skip
    return ExecutionPacket(**(body | changes))  # type: ignore[arg-type]


def test_the_digest_leaves_out_run_and_commit_and_nothing_else() -> None:
    same = [packet(run_id="r2"), packet(base=Base(commit="c2", tree="t1")), packet(packet_id="sha256:forged")]
    assert {p.digest() for p in same} == {packet().digest()}
    changes: dict[str, object] = {
        "phase": "q", "wave": 2, "attempt": 2, "base": Base(commit="c1", tree="t2"), "plan_digest": "sha256:2",
        "module_id": "B", "purpose": "é", "write_scope": ("b.py",), "plan_excerpt": ("n",), "stop_conditions": ("s",),
        "limits": Limits(attempts=9),
        "findings": (Finding(code="a.b", severity=Severity.ERROR, message="m"),),
        "agent": AgentChoice(name="x", spec=CommandAgent(kind="command", run=("false",))),
    }  # fmt: skip
    digests = {packet(**{key: value}).digest() for key, value in changes.items()} | {packet().digest()}
    assert len(digests) == len(changes) + 1


def test_a_stamped_packet_is_genuine_until_a_word_of_it_changes() -> None:
    stamped = packet().stamped()
    assert stamped.packet_id.startswith("sha256:")
    assert len(stamped.packet_id) == len("sha256:") + 64
    assert stamped.is_genuine
    assert not packet().is_genuine
    assert ExecutionPacket.model_validate_json(stamped.model_dump_json()).is_genuine
    assert not stamped.model_copy(update={"purpose": "do more"}).is_genuine
    assert stamped.model_copy(update={"run_id": "another"}).is_genuine


# --- verdict, shape -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("facts", "passed"),
    [
        ({"exit_code": 0}, True),
        ({"exit_code": 0, "ran_to_end": True}, True),
        ({"exit_code": 0, "ran_to_end": False}, False),
        ({"exit_code": 0, "reason": "deadline"}, False),
        ({"exit_code": 1}, False),
        ({"exit_code": None}, False),
    ],
)
def test_a_check_passed_when_nothing_speaks_against_it(facts: dict[str, object], passed: bool) -> None:  # noqa: FBT001
    assert CheckResult(command="pytest", **facts).passed is passed  # type: ignore[arg-type]


def test_only_errors_reject_and_a_finding_is_one_line() -> None:
    found = tuple(Finding(code=f"c.{s}", severity=s, message="m", path="a.py", line=3) for s in Severity)
    verdict = Verdict(packet_id="p", base_tree="b", head_tree="h", decision=Decision.REVISE, findings=found)
    assert [f.code for f in verdict.errors] == ["c.error"]
    assert found[0].text() == "c.error: a.py:3: m"
    assert found[0].model_copy(update={"line": 0}).text() == "c.error: a.py: m"
    assert found[0].model_copy(update={"path": ""}).text() == "c.error: m"


@pytest.mark.parametrize(
    "wrong", [{"max_workers": 0}, {"phases": [{"id": "p", "waves": [{"number": 1, "modules": []}]}]}]
)
def test_a_shape_that_could_only_stand_still_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        Shape.model_validate_json(json.dumps({"phases": [], "depends_on": {}, "attempts": {}, **wrong}))
