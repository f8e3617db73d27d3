"""Reports that runners other than pytest leave: JUnit, `go test -json`, jest's and vitest's JSON, cargo's own words.

Nobody signs them; they count beside the exit code. All of it is foreign text: bounded, and taken as text.
"""

import json
import re
from collections.abc import Iterator
from typing import Any

from reviewer import junit
from reviewer.junit import BadReport, Report

_RANK = ("passed", "skipped", "failed")
_GO = {"pass": 0, "skip": 1, "fail": 2}
_JEST = {"passed": 0, "pending": 1, "skipped": 1, "todo": 1, "disabled": 1, "failed": 2}
_CARGO = {"ok": 0, "ignored": 1, "FAILED": 2}
_CARGO_TEST = re.compile(r"^test (?P<name>\S+(?: - should panic)?) \.\.\. (?P<how>ok|FAILED|ignored)(?:,.*| <.*>)?$")
_CARGO_HEAD = re.compile(r"^running (\d+) tests?$")
_CARGO_END = re.compile(r"^test result: (?:ok|FAILED)\. (\d+) passed; (\d+) failed; (\d+) ignored; \d+ measured;")
_CARGO_SAID = re.compile(r"^---- (\S+) stdout ----$")
_WORDS = 300
_MOST_OUTPUT = 4000


def read(name: str, data: bytes) -> Report:
    """Read one file of `$GRACE_REPORTS` by what it is; raises BadReport."""
    if len(data) > junit.MOST:
        raise BadReport(f"the report is bigger than {junit.MOST} bytes")
    if name.endswith(".xml"):
        return junit.parse(data)
    first = data[:4096].lstrip()
    if b'"Action"' in first or b'"ImportPath"' in first:
        return go(data)
    return jest(data)


def go(data: bytes) -> Report:
    """Read `go test -json`, whose lines may stand among others: a test's last word counts."""
    told: dict[str, int] = {}
    said: dict[str, str] = {}
    for line in _objects(data):
        test, action, package = line.get("Test"), line.get("Action"), line.get("Package")
        if not isinstance(test, str) or not isinstance(action, str):
            continue
        name = f"{package}::{test}" if isinstance(package, str) else test
        if action == "output":
            text = said.get(name, "")
            said[name] = (text + str(line.get("Output", "")))[:_MOST_OUTPUT]
        elif action in _GO:
            told[name] = max(_GO[action], told.get(name, 0))
    report = _report(told)
    for name in report.failed:
        report.causes[name] = _go_cause(said.get(name, ""))
    return report


def _go_cause(said: str) -> tuple[str, bool]:
    lines = [
        line.strip() for line in said.splitlines() if line.strip() and not line.lstrip().startswith(("===", "---"))
    ]
    first = next((line for line in lines if line.startswith("panic:")), lines[0] if lines else "failed")
    return first[:_WORDS], not first.startswith("panic:") and bool(re.search(r"_test\.go:\d+", said))


def _objects(data: bytes) -> Iterator[dict[str, Any]]:
    for line in data.splitlines():
        if line.startswith(b"{") and line.rstrip().endswith(b"}"):
            try:
                found = json.loads(line)
            except (ValueError, RecursionError):
                continue
            if isinstance(found, dict):
                yield found


def jest(data: bytes) -> Report:
    """Read what `jest --json` and `vitest --reporter=json` write."""
    try:
        whole = json.loads(data)
        report = Report()
        told: dict[str, int] = {}
        for file in whole["testResults"]:
            path = str(file.get("name", "")).removeprefix("/repo/")
            for each in file["assertionResults"]:
                name = "::".join([path, *map(str, each.get("ancestorTitles", ())), str(each["title"])])
                told[name] = max(_JEST.get(str(each["status"]), 1), told.get(name, 0))
                messages = each.get("failureMessages") or ()
                if messages:
                    text = str(messages[0])
                    report.causes[name] = (text.strip().partition("\n")[0][:_WORDS], junit.is_assertion(text[:2000]))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as fault:
        raise BadReport(f"the report is neither JUnit, go test -json nor jest's JSON: {fault}") from None
    filled = _report(told)
    filled.causes = report.causes
    return filled


def cargo(data: bytes) -> Report:
    """Read what `cargo test` prints. A block counts only where its lines are as many as it says before and after."""
    told: dict[str, int] = {}
    report = Report()
    block: dict[str, int] = {}
    announced, listing = -1, False
    saying = ""
    for line in data.decode("utf-8", "replace").splitlines():
        if head := _CARGO_HEAD.match(line):
            block, announced, listing = {}, int(head[1]), True
        elif listing and not line:
            listing = False  # what failing tests printed comes after it
        elif listing and (test := _CARGO_TEST.match(line)):
            block.setdefault(test["name"].removesuffix(" - should panic"), _CARGO[test["how"]])
        elif said := _CARGO_SAID.match(line):
            saying = said[1]
        elif saying and line.strip() and saying not in report.causes and "panicked at" not in line:
            report.causes[saying] = (line.strip()[:_WORDS], "assertion" in line)
        elif end := _CARGO_END.match(line):
            counts = tuple(list(block.values()).count(rank) for rank in (0, 2, 1))
            if announced == len(block) and counts == tuple(int(count) for count in end.groups()):
                told |= block
            block, announced, listing, saying = {}, -1, False, ""
    filled = _report(told)
    filled.causes = {name: cause for name, cause in report.causes.items() if name in filled.failed}
    return filled


def _report(told: dict[str, int]) -> Report:
    report = Report()
    for name, rank in told.items():
        getattr(report, _RANK[rank]).append(name)
    return report
