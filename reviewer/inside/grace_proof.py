"""pytest plugin for the proof of new scenarios: runs them alone, and tells how each ended and what it ran.

Used by `grace_witness` where grace laid a file `proof.json` beside it: `only` holds the ids of the scenarios, from the
repository's root, `lines` the changed lines by path ([first, last] each), and from the command `trace` on they are
watched: which of them does a test run, in functions, between its own set-up and its end? Standard library and pytest
only, no syntax newer than Python 3.7.
"""

import json
import os
import sys
import threading
from typing import Any, Dict, List, Set, Tuple  # noqa: UP035 - as old as the image's Python may be

import pytest

_MOST_LINES = 20
_FUNCTION = 0x1  # CO_OPTIMIZED: neither a module nor the body of a class
_WORDS = 300


def settings() -> Any:
    """Return what grace laid down for a proof, or None."""
    path = os.path.join(os.environ["GRACE_CHECK"], "proof.json")  # noqa: PTH118
    if not os.path.exists(path):  # noqa: PTH110
        return None
    with open(path, encoding="utf-8") as file:  # noqa: PTH123
        return json.load(file)


class Proof:
    """Selects, watches, and keeps what became of each scenario."""

    def __init__(self, given: Any) -> None:
        self.told: Dict[str, Dict[str, Any]] = {}  # noqa: UP006
        self._root = os.path.realpath(os.environ["GRACE_REPO"])
        self._only = set(given["only"])
        self._paths = {each.partition("::")[0] for each in self._only}
        watched = int(os.environ["GRACE_NUMBER"]) >= given["trace"]
        self._lines = _Lines(self._root, given["lines"]) if watched else None

    @pytest.hookimpl(tryfirst=True)
    def pytest_configure(self, config: Any) -> None:
        """Let nothing that the command says keep a scenario from running in this very process."""
        for name, value in (("maxfail", 0), ("continue_on_collection_errors", True), ("dist", "no"), ("tx", [])):
            if hasattr(config.option, name):
                setattr(config.option, name, value)

    if hasattr(pytest, "version_tuple"):  # from 7 on the hook knows this argument

        def pytest_ignore_collect(self, collection_path: Any) -> Any:
            """Leave files of other tests aside."""
            if collection_path.suffix != ".py" or collection_path.name in ("__init__.py", "conftest.py"):
                return None
            return None if self._id("", collection_path) in self._paths else True

    def _id(self, nodeid: str, path: Any) -> str:
        inside = os.path.relpath(os.path.realpath(str(path)), self._root)
        return inside.replace(os.sep, "/") + nodeid[len(nodeid.partition("::")[0]) :]

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, config: Any, items: Any) -> None:
        """Keep the scenarios in question, all rows of those that are named without one."""
        kept: List[Any] = []  # noqa: UP006
        left: List[Any] = []  # noqa: UP006
        for item in items:
            name = self._id(item.nodeid, _path(item))
            (kept if name in self._only or name.partition("[")[0] in self._only else left).append(item)
        if left:
            config.hook.pytest_deselected(items=left)
            items[:] = kept

    def pytest_exception_interact(self, node: Any, call: Any) -> None:
        """Note a file that could not be collected."""
        if isinstance(node, pytest.Collector):
            fault = call.excinfo.value
            cause, _ = _cause(fault.__cause__ or fault)
            self.told[self._id(node.nodeid, _path(node))] = {"outcome": "error", "cause": cause}

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_protocol(self, item: Any) -> Any:
        """Watch one test."""
        told = self.told.setdefault(self._id(item.nodeid, _path(item)), {"outcome": "passed"})
        if self._lines is None:
            yield
            return
        self._lines.start()
        try:
            yield
        finally:
            told["lines"] = self._lines.stop()

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_makereport(self, item: Any, call: Any) -> Any:
        """Note how one part of a test ended; the first fault is what counts."""
        report = (yield).get_result()
        told = self.told.setdefault(self._id(item.nodeid, _path(item)), {"outcome": "passed"})
        if report.failed and told["outcome"] != "failed":
            cause, asserted = _cause(call.excinfo.value) if call.excinfo else (str(report.longrepr)[:_WORDS], False)
            told.update(outcome="failed", cause=cause, asserted=asserted and call.when == "call")
            if call.when != "call":
                told["cause"] += " (in its %s)" % ("set-up" if call.when == "setup" else "clean-up")
        elif report.skipped and told["outcome"] == "passed":
            told["outcome"] = "skipped"


def _path(node: Any) -> Any:
    return getattr(node, "path", None) or node.fspath


def _cause(fault: Any) -> Tuple[str, bool]:  # noqa: UP006
    """Return the exception in words, and whether it is an assertion that failed."""
    parts = getattr(fault, "exceptions", None) or [fault]
    asserted = any(isinstance(part, (AssertionError, pytest.fail.Exception)) for part in parts)
    words = str(fault).strip().splitlines()
    return ("%s: %s" % (type(fault).__name__, words[0] if words else ""))[:_WORDS].rstrip(": "), asserted  # noqa: UP031


class _Lines:
    """Which of the changed lines run, in functions; by sys.monitoring, which costs next to nothing, where it is."""

    def __init__(self, root: str, lines: Any) -> None:
        self._root = root
        self._wanted = {
            path: {line for first, last in spans for line in range(first, last + 1)} for path, spans in lines.items()
        }
        self._places: Dict[str, Any] = {}  # noqa: UP006
        self._seen: Set[Tuple[str, int]] = set()  # noqa: UP006
        self._monitoring: Any = getattr(sys, "monitoring", None)
        self._tool = self._claim() if self._monitoring else None
        self._before: Any = None

    def _claim(self) -> Any:
        monitoring = self._monitoring
        for tool in (4, 3):
            if monitoring.get_tool(tool) is None:
                monitoring.use_tool_id(tool, "grace")
                monitoring.register_callback(tool, monitoring.events.LINE, self._line)
                return tool
        return None

    def _path(self, code: Any) -> Any:
        """Return the path of a function in one of the changed files, or None."""
        if not code.co_flags & _FUNCTION:
            return None
        name = code.co_filename
        if name not in self._places:
            inside = os.path.relpath(os.path.realpath(name), self._root).replace(os.sep, "/")
            self._places[name] = inside if inside in self._wanted else None
        return self._places[name]

    def _line(self, code: Any, line: int) -> Any:
        path = self._path(code)
        if path is not None and line in self._wanted[path]:
            self._seen.add((path, line))
        return self._monitoring.DISABLE

    def _call(self, frame: Any, event: str, arg: Any) -> Any:  # noqa: ARG002
        path = self._path(frame.f_code)
        if path is None:
            return None
        wanted = self._wanted[path]

        def each(frame: Any, event: str, arg: Any) -> Any:  # noqa: ARG001
            if event == "line" and frame.f_lineno in wanted:
                self._seen.add((path, frame.f_lineno))
            return each

        return each

    def start(self) -> None:
        """Begin to watch."""
        self._seen = set()
        if self._tool is None:
            self._before = sys.gettrace()
            threading.settrace(self._call)
            sys.settrace(self._call)
            return
        self._monitoring.restart_events()
        self._monitoring.set_events(self._tool, self._monitoring.events.LINE)

    def stop(self) -> List[str]:  # noqa: UP006
        """End it; return the lines that ran, `path:line`, the first ones of them."""
        if self._tool is None:
            sys.settrace(self._before)
            threading.settrace(None)
        else:
            self._monitoring.set_events(self._tool, 0)
        return ["%s:%d" % place for place in sorted(self._seen)[:_MOST_LINES]]  # noqa: UP031
