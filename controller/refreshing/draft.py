"""A plan in the making: edits of its text that are held to what they mean, and the difference as a patch."""

import copy
import difflib
import json
from pathlib import Path
from typing import Any

from controller.plan.nodes import Reader, Unreadable, plain
from controller.plan.places import LoadedPlan, Places
from controller.refreshing.sheet import Loc, Sheet

BOM = "\ufeff"


class Unfit(Exception):  # noqa: N818 - reads as what it says
    """The edit cannot be made in this text."""


class Draft:
    """The text and what it says. Each edit changes both; raises Unfit when they would not say the same."""

    def __init__(self, data: bytes) -> None:
        text = data.decode("utf-8")
        self._mark = BOM if text.startswith(BOM) else ""
        self._take(text.removeprefix(BOM), None)

    def module(self, name: str) -> Loc:
        """Return where a module stands; raises Unfit."""
        for i, phase in enumerate(self.data["phases"]):
            for j, module in enumerate(phase["modules"]):
                if module["id"] == name:
                    return "phases", i, "modules", j
        raise Unfit(f"the plan has no module {name}")

    def at(self, loc: Loc) -> Any:
        """Return what stands at a place; raises KeyError or IndexError."""
        found = self.data
        for step in loc:
            found = found[step]
        return found

    def append(self, holder: Loc, key: str, value: str, after: str = "") -> None:
        """Add a text to a list, which is made behind the key `after` where there is none."""
        data = self._copy()
        known = _at(data, holder).setdefault(key, [])
        if value in known:
            raise Unfit(f"the plan says so already: {key} holds {value}")
        known.append(value)
        self._take(self._sheet.append(holder, key, value, after), data)

    def take(self, holder: Loc, key: str, value: str) -> None:
        """Take a text out of a list; an empty list goes."""
        data = self._copy()
        known = _at(data, holder).get(key, [])
        if value not in known:
            raise Unfit(f"the plan says so already: {key} does not hold {value}")
        known.remove(value)
        if not known:
            _drop(data, holder, key)
        self._take(self._sheet.take(holder, key, value), data)

    def drop(self, holder: Loc, key: str) -> None:
        """Take a key out; an empty mapping goes."""
        data = self._copy()
        if key not in _at(data, holder):
            raise Unfit(f"the plan says so already: there is no {key}")
        _drop(data, holder, key)
        self._take(self._sheet.drop(holder, key), data)

    def drop_item(self, holder: Loc, index: int) -> None:
        """Take an entry out of a list."""
        data = self._copy()
        del _at(data, holder)[index]
        self._take(self._sheet.drop_item(holder, index), data)

    def put(self, loc: Loc, value: str) -> None:
        """Replace a text."""
        data = self._copy()
        _at(data, loc[:-1])[loc[-1]] = value
        self._take(self._sheet.put(loc, value), data)

    def bytes(self) -> bytes:
        """Return the file."""
        return (self._mark + self.text).encode()

    def loaded(self, path: Path) -> LoadedPlan:
        """Return it as a plan; raises ValueError when it is none."""
        from packets.plan import Plan

        plan = Plan.model_validate_json(json.dumps(self.data))
        return LoadedPlan(plan=plan, digest="", path=path, text=self.bytes(), positions=self._places(str(path)))

    def _places(self, file: str) -> Places:
        return Places(file, Reader(file).read(self.bytes()))

    def _copy(self) -> Any:
        return copy.deepcopy(self.data)

    def _take(self, text: str, meant: Any) -> None:
        reader = Reader("")
        try:
            data = plain(reader.read(text.encode()))
        except Unreadable:
            raise Unfit("the text cannot be read") from None
        if reader.problems or (meant is not None and data != meant):
            raise Unfit("the text would not say what is meant")
        self.text, self.data, self._sheet = text, data, Sheet(text)


def _at(data: Any, loc: Loc) -> Any:
    for step in loc:
        data = data[step]
    return data


def _drop(data: Any, holder: Loc, key: str) -> None:
    mapping = _at(data, holder)
    del mapping[key]
    if not mapping and holder and isinstance(holder[-1], str):
        _drop(data, holder[:-1], holder[-1])


def patch(path: str, before: bytes, after: bytes) -> str:
    """Return the unified difference of a file as `git apply` and `patch -p1` take it."""
    old, new = (data.decode("utf-8").split("\n") for data in (before, after))
    sides = [[f"{line}\n" for line in lines[:-1]] + ([lines[-1]] if lines[-1] else []) for lines in (old, new)]
    tab = "\t" if any(char.isspace() for char in path) else ""
    names = f"a/{path}{tab}", f"b/{path}{tab}"
    lines = difflib.unified_diff(sides[0], sides[1], names[0], names[1])
    return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)
