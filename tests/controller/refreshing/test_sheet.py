"""Editing a plan's text: only what is meant changes, whatever its style."""

import difflib
import random

import pytest
import yaml

from controller.refreshing.sheet import Sheet

A, C = ("phases", 0, "modules", 0), ("phases", 0, "modules", 1)
BLOCK = """\
# seasonal
version: 1
name: s   # a name
modules_map: {Pricing/Money: [app/m.py]}  # what is there
phases:
  - id: one
    modules:
      # the first
      - id: A   # a
        purpose: do it
        depends_on: [Pricing/Money, "B"] # two
        write_scope:
          - a.py  # first
          - "b é.py"

      # the second
      - {id: C, purpose: "x: y", write_scope: [c.py]}
"""


def changed(text, edited):
    """The lines that go and come."""
    found = difflib.unified_diff(text.splitlines(), edited.splitlines(), n=0, lineterm="")
    return [line for line in found if not line.startswith(("---", "+++", "@@"))]


@pytest.mark.parametrize(
    ("edit", "lines"),
    [
        (
            lambda s: s.append(A, "depends_on", "Q"),
            ['-        depends_on: [Pricing/Money, "B"] # two', '+        depends_on: [Pricing/Money, "B", "Q"] # two'],
        ),
        (
            lambda s: s.take(A, "depends_on", "B"),
            ['-        depends_on: [Pricing/Money, "B"] # two', "+        depends_on: [Pricing/Money] # two"],
        ),
        (
            lambda s: s.take(A, "depends_on", "Pricing/Money"),
            ['-        depends_on: [Pricing/Money, "B"] # two', '+        depends_on: ["B"] # two'],
        ),
        (lambda s: s.append(A, "write_scope", "x.py"), ['+          - "x.py"']),
        (lambda s: s.take(A, "write_scope", "b é.py"), ['-          - "b é.py"']),
        (lambda s: s.take(A, "write_scope", "a.py"), ["-          - a.py  # first"]),
        (
            lambda s: s.append(C, "depends_on", "A", after="purpose"),
            [
                '-      - {id: C, purpose: "x: y", write_scope: [c.py]}',
                '+      - {id: C, purpose: "x: y", depends_on: [A], write_scope: [c.py]}',
            ],
        ),
        (lambda s: s.append(A, "notes", "a: b", after="purpose"), ['+        notes: ["a: b"]']),
        (
            lambda s: s.drop(("modules_map",), "Pricing/Money"),
            ["-modules_map: {Pricing/Money: [app/m.py]}  # what is there"],
        ),
        (
            lambda s: s.drop_item(("phases", 0, "modules"), 1),
            ['-      - {id: C, purpose: "x: y", write_scope: [c.py]}'],
        ),
        (lambda s: s.drop(A, "id"), ["-      - id: A   # a", "-        purpose: do it", "+      - purpose: do it"]),
        (lambda s: s.put((*A, "write_scope", 0), "z.py"), ["-          - a.py  # first", "+          - z.py  # first"]),
    ],
)  # fmt: skip
def test_only_these_lines_change(edit, lines):
    assert changed(BLOCK, edit(Sheet(BLOCK))) == lines


def test_the_last_entry_of_a_list_takes_its_key_along():
    text = "a:\n  x: [1]\n  depends_on:\n    - q\nb: 2\n"
    assert Sheet(text).take(("a",), "depends_on", "q") == "a:\n  x: [1]\nb: 2\n"
    assert Sheet('{"a": {"d": ["q"]}, "b": 2}').take(("a",), "d", "q") == '{"b": 2}'


@pytest.mark.parametrize("end", ["\n", "\r\n", ""])
def test_line_endings_stay_as_they_are(end):
    text = f"a:{end or chr(10)}- x{end}"
    newline = "\r\n" if end == "\r\n" else "\n"
    assert Sheet(text).append((), "a", "y") == f"a:{newline}- x{newline}- y{end}"


def test_a_flow_style_over_lines_keeps_its_comments():
    text = "{a: [\n  x,  # the first\n  y  # the last\n]}\n"
    assert "# the first" in Sheet(text).take((), "a", "y")
    assert yaml.safe_load(Sheet(text).take((), "a", "y")) == {"a": ["x"]}
    added = Sheet('{\n "a": [\n  "x",\n  "y"\n ]\n}').append((), "a", "z")
    assert added == '{\n "a": [\n  "x",\n  "y",\n  "z"\n ]\n}'


def test_any_edit_of_any_style_says_what_is_meant():
    """Random trees in random styles: what comes out is what the same edit makes of the values."""
    rng = random.Random(5)
    for _ in range(300):
        data = {
            f"k{n}": [f"v{n}{i} é"[: rng.randint(2, 5)] + str(i) for i in range(rng.randint(1, 4))]
            for n in range(rng.randint(1, 4))
        }
        text = yaml.safe_dump(
            {"m": data},
            default_flow_style=rng.choice([True, False, None]),
            width=rng.choice([20, 200]),
            allow_unicode=True,
        )
        key = rng.choice(list(data))
        value = rng.choice(data[key])
        added = yaml.safe_load(Sheet(text).append(("m",), key, "new: one"))
        assert added["m"] == {**data, key: [*data[key], "new: one"]}, text
        taken = yaml.safe_load(Sheet(text).take(("m",), key, value))
        left = [each for each in data[key] if each != value]
        wanted = {**data, key: left} if left else {k: v for k, v in data.items() if k != key}
        assert taken == ({"m": wanted} if wanted else {}) or (taken is None and not wanted), text
        fresh = yaml.safe_load(Sheet(text).append(("m",), "fresh", "x", after=key))
        assert fresh["m"] == {**data, "fresh": ["x"]}, text
