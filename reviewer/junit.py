"""JUnit reports, which foreign code may have written: bounded, without entities, every text taken as text."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from xml.etree import ElementTree as ET
from xml.parsers import expat

MOST = 64 << 20
"""Bytes of one report."""
_DEEPEST = 64
_TEXT = 2000
_NODE = "test"
"""The class of every test that node's own runner reports; the titles around it are suites."""


class BadReport(ValueError):  # noqa: N818 - reads as what it says
    """No report that can be trusted as one: too big, too deep, not XML, or with declarations."""


@dataclass
class Report:
    """Ids (`path::Class::name[row]`) by outcome; an id is in one list only, the worst that was said of it."""

    passed: list[str] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)
    causes: dict[str, tuple[str, bool]] = field(default_factory=dict)
    """Of those that failed: why, in words, and whether it was an assertion of the test."""


def parse(data: bytes) -> Report:
    """Read the outcomes; raises BadReport."""
    worst: dict[str, int] = {}
    report = Report()
    for case, around in _cases(_root(data), ()):
        name = _id(case, around)
        tags = {child.tag for child in case}
        rank = 2 if tags & {"failure", "error"} else 1 if "skipped" in tags else 0
        worst[name] = max(rank, worst.get(name, 0))
        fault = next((child for child in case if child.tag in ("failure", "error")), None)
        if fault is not None:
            report.causes.setdefault(name, _cause(fault))
    for name, rank in worst.items():
        (report.passed, report.skipped, report.failed)[rank].append(name)
    return report


def captured_text(data: bytes) -> str:
    """Return all captured output of a report, in its order; raises BadReport."""
    return "\n".join(_captured(_root(data)))


def _captured(root: ET.Element) -> Iterator[str]:
    return (node.text for node in root.iter() if node.tag in ("system-out", "system-err") and node.text)


def _cause(fault: ET.Element) -> tuple[str, bool]:
    """Read why a test failed; `error` is what JUnit's own writers say where it was no assertion."""
    lines = [line.strip() for line in (fault.get("message") or fault.text or "").splitlines() if line.strip()]
    kind = fault.get("type", "")
    text = lines[0] if lines else kind or fault.tag
    if lines and kind and not text.startswith(kind):
        text = f"{kind}: {text}"
    said = f"{text}\n{(fault.text or '')[:_TEXT]}"
    return text, fault.tag == "failure" and is_assertion(said)


_ASSERTED = re.compile(r"assert|\bexpect(?:ed|\()|comparisonfailure|DID NOT RAISE|_test\.go:\d+: ", re.IGNORECASE)
_BROKEN = re.compile(
    r"\b(?:Import|ModuleNotFound|Attribute|Name|Syntax|Reference)Error\b|is not a (?:function|constructor)"
    r"|is not defined|Cannot find module|Cannot read propert|NoSuch(?:Method|Field)|NoClassDef|ClassNotFound|^panic: "
)


def is_assertion(words: str) -> bool:
    """Say whether the words of a failure are those of an assertion, and not of a name that is missing."""
    return bool(_ASSERTED.search(words)) and not _BROKEN.search(words)


def _cases(node: ET.Element, around: tuple[str, ...]) -> Iterator[tuple[ET.Element, tuple[str, ...]]]:
    """Yield every test case with the names of the suites around it, the outermost first."""
    for child in node:
        if child.tag == "testcase":
            yield child, around
        yield from _cases(child, (*around, child.get("name", "")) if child.tag == "testsuite" else around)


def _id(case: ET.Element, around: tuple[str, ...]) -> str:
    name, owner, path = case.get("name", ""), case.get("classname", ""), case.get("file", "")
    if owner == _NODE and around[:1] != ("pytest",) and not path.endswith((".py", ".pyi")):
        return "::".join([part for part in (path, *around) if part] + [name])
    if not path:
        return f"{owner}::{name}" if owner else name
    module = re.sub(r"\.pyi?$", "", path).replace("/", ".")
    inner = owner.removeprefix(module).strip(".") if owner.startswith(module) else ""
    return "::".join([path, *inner.split(".")] if inner else [path]) + f"::{name}"


def _root(data: bytes) -> ET.Element:
    if len(data) > MOST:
        raise BadReport(f"the report is bigger than {MOST} bytes")
    builder, depth = ET.TreeBuilder(), 0
    parser = expat.ParserCreate()

    def refuse(*_: object) -> int:
        raise BadReport("the report declares a document type or entities")

    def start(tag: str, attributes: dict[str, str]) -> None:
        nonlocal depth
        depth += 1
        if depth > _DEEPEST:
            raise BadReport("the report is nested too deep")
        builder.start(tag, attributes)

    def end(tag: str) -> None:
        nonlocal depth
        depth -= 1
        builder.end(tag)

    parser.StartDoctypeDeclHandler = refuse
    parser.EntityDeclHandler = refuse
    parser.ExternalEntityRefHandler = refuse
    parser.StartElementHandler, parser.EndElementHandler = start, end
    parser.CharacterDataHandler = builder.data
    parser.buffer_text = True
    try:
        parser.Parse(data, True)  # noqa: FBT003 - expat takes it by position
    except expat.ExpatError as fault:
        raise BadReport(f"the report is no XML: {fault}") from None
    return builder.close()
