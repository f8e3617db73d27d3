"""YAML that is hostile, odd or only old: each a clear line, within a second and without much memory."""

import io
import time
import tracemalloc

import pytest
import yaml

from controller.plan.nodes import MAX_BYTES, MAX_DEPTH, MAX_NODES, Reader, Unreadable, plain, resolve

GOOD = "version: 1\nname: x\n"
LAUGHS = "a: &a [lol,lol,lol,lol,lol,lol,lol,lol,lol]\n" + "".join(
    f"{chr(98 + i)}: &{chr(98 + i)} [{','.join(['*' + chr(97 + i)] * 9)}]\n" for i in range(9)
)


def read(data):
    """Return the problems (code, line, column) and the value, None when it cannot be had."""
    reader = Reader("p.yaml")
    try:
        value = plain(reader.read(data if isinstance(data, bytes) else data.encode("utf-8", "surrogatepass")))
    except Unreadable:
        value = None
    return [(p.code, p.line, p.column) for p in reader.problems], value


HOSTILE = {
    "billion laughs": (LAUGHS, ("plan.yaml_alias", 1, 4)),
    "an alias to itself": ("a: &a [*a]\n", ("plan.yaml_alias", 1, 4)),
    "an anchor alone": ("a: 1\nb: &x 2\n", ("plan.yaml_alias", 2, 4)),
    "deep flow lists": ("a: " + "[" * 10_000, None),
    "deep flow mappings": ("{a: " * 10_000, None),
    "deep block lists": ("- " * 10_000 + "x", None),
    "deep block mappings": ("".join(" " * i + "a:\n" for i in range(1_200)), None),
    "deep within libyaml's own limit": ("[" * 200 + "]" * 200, ("plan.too_deep", 1, MAX_DEPTH + 2)),
    "deep question marks": ("? " * 10_000, None),
    "many values": ("[" + "1," * 300_000 + "]", ("plan.too_large", None, None)),
    "many keys": ("".join(f"k{i}: {i}\n" for i in range(60_000)), ("plan.too_large", None, None)),
    "many duplicate keys": ("a: 1\n" * 20_000, ("plan.duplicate_key", 2, 1)),
    "a large file": (b"a: " + b"x" * (50 << 20), ("plan.too_large", 1, 1)),
    "one byte too many": (b"#" * (MAX_BYTES + 1), ("plan.too_large", 1, 1)),
    "a python object": ("a: !!python/object/apply:os.system [id]\n", ("plan.yaml_tag", 1, 4)),
    "a local tag": ("a: 1\nb: !secret x\n", ("plan.yaml_tag", 2, 4)),
    "a standard tag": ("a: !!str 1\n", ("plan.yaml_tag", 1, 4)),
    "a tag directive": ("%TAG ! tag:evil,2000:\n---\na: 1\n", ("plan.yaml_tag", 1, 1)),
    "a merge key": ("a: 1\nb:\n  <<: {c: 1}\n", ("plan.yaml_merge", 3, 3)),
    "two documents": ("a: 1\n---\nb: 2\n", ("plan.many_documents", 2, 1)),
    "latin-1": (b"a: 1\nname: caf\xe9\n", ("plan.encoding", 2, 10)),
    "utf-16": ("a: 1\n".encode("utf-16"), ("plan.encoding", 1, 1)),
    "an escape sequence": ("a: 1\nb: \x1b[31mred\n", ("plan.bad_character", 2, 4)),
    "an escaped escape": ('a: "\\x1b[31m"\n', ("plan.bad_character", 1, 4)),
    "an escaped NUL": ('a: "x\\0"\n', ("plan.bad_character", 1, 4)),
    "an escaped carriage return": ('a: "x\\ry"\n', ("plan.bad_character", 1, 4)),
    "an escaped lone surrogate": ('a: "\\ud800"\n', None),
    "text that turns around": ("a: \u202etxet\n", ("plan.bad_character", 1, 4)),
    "a line separator": ("a: x\u2028b: y\n", ("plan.bad_character", 1, 5)),
    "a NUL": ("a: \0\n", ("plan.bad_character", 1, 4)),
    "a bom in the middle": ("a: 1\n\ufeffb: 2\n", ("plan.bad_character", 2, 1)),
    "no text as key": ("[a, b]: 1\n", ("plan.bad_key", 1, 1)),
    "no key at all": ("? \n: 1\n", ("plan.bad_key", None, None)),
    "a tab": ("a:\n\tb: 1\n", ("plan.yaml_syntax", 2, 1)),
    "an open quote": ("a: 'x\n", ("plan.yaml_syntax", None, None)),
    "an open list": ("a: [1, 2\nb: 3\n", ("plan.yaml_syntax", None, None)),
    "a colon too many": ("a: b: c\n", ("plan.yaml_syntax", 1, 5)),
    "an unknown alias": ("a: *nowhere\n", ("plan.yaml_alias", 1, 4)),
    "nothing": ("", ("plan.empty", 1, 1)),
    "only a comment": ("# later\n", ("plan.empty", 1, 1)),
    "only null": ("~\n", ("plan.empty", 1, 1)),
    "a version from the future": ("%YAML 9.1\n---\na: 1\n", ("plan.yaml_syntax", None, None)),
}


@pytest.mark.parametrize("loader", ["CSafeLoader", "SafeLoader"])
@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_text_is_refused_at_once(name, loader, monkeypatch):
    if loader == "SafeLoader":
        monkeypatch.delattr(yaml, "CSafeLoader", raising=False)
    text, expected = HOSTILE[name]
    start = time.process_time()
    problems, _ = read(text)
    assert time.process_time() - start < (1 if loader == "CSafeLoader" else 10)
    assert problems
    code, line, column = expected or (problems[0][0], None, None)
    assert problems[0][0] == code
    assert line is None or problems[0][1:] == (line, column)


def test_hostile_text_takes_little_memory():
    for name in ("billion laughs", "deep flow lists", "many values", "a large file"):
        text = HOSTILE[name][0]
        data = text if isinstance(text, bytes) else text.encode()
        tracemalloc.start()
        read(data)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 60 << 20, name


@pytest.mark.parametrize(
    ("text", "value"),
    [
        *(
            (word, word)
            for word in ("yes", "no", "on", "off", "y", "n", "Yes", "1:30", "0x1f", "0o17", "010", "1_000", "=")
        ),
        *(
            (word, word)
            for word in ("2024-01-01", "2024-01-01T00:00:00Z", ".nan", ".inf", "-.INF", "1e999", "9" * 30, "<<")
        ),
        *((word, None) for word in ("~", "null", "Null", "NULL", "")),
        *((word, True) for word in ("true", "True", "TRUE")),
        *(
            ("false", False),
            ("0", 0),
            ("-12", -12),
            ("+3", 3),
            ("1.5", 1.5),
            ("-.5", -0.5),
            ("1e3", 1000.0),
            ("3.", 3.0),
        ),
    ],
)
def test_plain_scalars_are_those_of_json(text, value):
    assert resolve(text) == value
    assert type(resolve(text)) is type(value)
    problems, read_back = read(f"k: {text}\n" if text != "<<" else "k: [<<]\n")
    assert problems == []
    assert read_back == {"k": [value] if text == "<<" else value}


def test_quoted_scalars_are_text():
    assert read("a: '1'\nb: \"true\"\nc: 'null'\nd: |\n  5\n'on': ''\n")[1] == {
        "a": "1", "b": "true", "c": "null", "d": "5\n", "on": ""
    }  # fmt: skip


def test_keys_are_text_whatever_they_look_like():
    assert read("on: 1\n1: 2\ntrue: 3\nnull: 4\n2024-01-01: 5\n")[1] == {
        "on": 1, "1": 2, "true": 3, "null": 4, "2024-01-01": 5
    }  # fmt: skip


def test_every_duplicate_is_said_and_the_first_kept():
    problems, value = read("a: 1\nb: {c: 1, c: 2}\na: 3\n'a': 4\n")
    assert problems == [("plan.duplicate_key", 2, 11), ("plan.duplicate_key", 3, 1), ("plan.duplicate_key", 4, 1)]
    assert value == {"a": 1, "b": {"c": 1}}


def test_a_bom_and_windows_lines_are_fine():
    assert read(b"\xef\xbb\xbfa: 1\r\nb: |\r\n  x\r\n  y\r\n") == ([], {"a": 1, "b": "x\ny\n"})


def test_wide_text_keeps_its_columns():
    problems, _ = read("\U0001f389漢字: {k: 1, k: 2}\n")
    assert problems == [("plan.duplicate_key", 1, 13)]


def test_limits_are_generous_enough():
    modules = "".join(f"- {{id: M{i}, purpose: x, write_scope: [src/{i}/]}}\n" for i in range(2000))
    problems, value = read(modules)
    assert problems == []
    assert len(value) == 2000
    assert MAX_NODES > 2000 * 9
    assert io.BytesIO(modules.encode()).getbuffer().nbytes < MAX_BYTES
