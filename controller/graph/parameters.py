"""The parameters of a signature as its language writes them, and what of a change breaks those who call."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from controller.graph.language import family_of

_OPEN, _CLOSE = "([{<", ")]}>"
_LAMBDA = re.compile(r"\blambda\b[^:]*$")


class Parameters(NamedTuple):
    """`required` and `optional` by name, in order; `more`: any number of arguments beside.

    `by_name`: a caller may name them, as in Python; those in `only_named` must be named.
    """

    required: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()
    more: bool = False
    by_name: bool = False
    only_named: tuple[str, ...] = ()

    @property
    def least(self) -> int:
        """Arguments that a caller must give."""
        return len(self.required)

    @property
    def most(self) -> int:
        """Arguments that a caller may give."""
        return len(self.required) + len(self.optional)


def parameters(signature: str, path: str, *, method: bool = False) -> Parameters | None:
    """Read a signature; None for what has no parameters, or is cut off before their end."""
    family = family_of(path)
    inside = _list(signature, family)
    if inside is None:
        return None
    parts = list(_split(inside))
    if family == "python":
        return _python(parts, method=method)
    return {"go": _go, "rust": _rust}.get(family, _typed)(parts)


def broken(before: Parameters, after: Parameters) -> str:
    """Say what a caller of before may trip over after; nothing where every call stays good."""
    if before.by_name and after.by_name:
        lost = _lost(before, after)
        if lost:
            return lost
    if after.least > before.least:
        new = [name for name in after.required if name not in before.required]
        return f"needs {', '.join(new) or 'more arguments'} now"
    if after.most < before.most and not after.more:
        return f"takes {after.most} instead of {before.most} arguments at most"
    if before.more and not after.more:
        return "no longer takes any number of arguments"
    return ""


def _lost(before: Parameters, after: Parameters) -> str:
    known = {*after.required, *after.optional}
    gone = [name for name in (*before.required, *before.optional) if name not in known]
    new = [name for name in after.required if name not in {*before.required, *before.optional}]
    if gone and new and len(gone) == len(new):
        return "; ".join(f"{a} is called {b} now" for a, b in zip(gone, new, strict=True))
    if new:
        return f"needs {', '.join(new)} now"
    if gone and not after.more:
        return f"no longer takes {', '.join(gone)}"
    if needed := [name for name in after.required if name in before.optional]:
        return f"needs {', '.join(needed)} now"
    return _moved(before, after)


def _moved(before: Parameters, after: Parameters) -> str:
    """Say which arguments can be given by name only, or have changed places."""
    closed = [name for name in after.only_named if name not in before.only_named and name in _order(before)]
    if closed:
        return f"takes {', '.join(closed)} by name only now"
    kept = [name for name in _order(after) if name in _order(before)]
    was = [name for name in _order(before) if name in _order(after)]
    return "takes its arguments in another order" if kept != was else ""


def _order(parameters_: Parameters) -> list[str]:
    """Return the names that may be given by place. Required ones stand before optional ones."""
    names = (*parameters_.required, *parameters_.optional)
    return [name for name in names if name not in parameters_.only_named]


def _list(signature: str, family: str) -> str | None:
    """Return what stands between the parentheses of the parameters."""
    start = signature.find("(")
    if family == "go" and re.match(r"\s*func\s*\(", signature):  # the receiver stands first
        end = _end(signature, start)
        start = -1 if end is None else signature.find("(", end)
    if start < 0:
        return None
    end = _end(signature, start)
    return None if end is None else signature[start + 1 : end]


def _end(text: str, start: int) -> int | None:
    depth = 0
    for at, char in enumerate(text[start:], start):
        if char in "([{":
            depth += 1
        elif char in ")]}":
            depth -= 1
            if depth == 0:
                return at
    return None


def _split(text: str) -> Iterator[str]:
    """Yield what stands between the commas that are in no bracket and no string."""
    depth, start, quote = 0, 0, ""
    for at, char in enumerate(text):
        if quote:
            quote = "" if char == quote and text[at - 1] != "\\" else quote
        elif char in "\"'":
            quote = char
        elif char in _OPEN:
            depth += 1
        elif char in _CLOSE and text[at - 1 : at] not in ("-", "="):  # `->` and `=>` close nothing
            depth -= 1
        elif char == "," and depth <= 0 and not _LAMBDA.search(text, start, at):
            yield text[start:at].strip()
            start = at + 1
    if last := text[start:].strip():
        yield last


def _python(parts: list[str], *, method: bool) -> Parameters:
    required: list[str] = []
    optional: list[str] = []
    only: list[str] = []
    more, named_only = False, False
    for part in parts[1:] if method and parts and re.match(r"(self|cls|mcs)\b", parts[0]) else parts:
        if part == "/":
            continue
        if part.startswith("*"):
            named_only = named_only or not part.startswith("**")
            more = more or part != "*"
            continue
        name = re.split(r"[:=\s]", part, maxsplit=1)[0]
        (optional if _has_default(part) else required).append(name)
        if named_only:
            only.append(name)
    return Parameters(tuple(required), tuple(optional), more, by_name=True, only_named=tuple(only))


def _has_default(part: str) -> bool:
    return re.search(r"(?<![=!<>:])=(?![=>])", part) is not None


def _go(parts: list[str]) -> Parameters:
    return Parameters(tuple(_last_of(part.split()[:1]) for part in parts if "..." not in part), (), _dots(parts))


def _rust(parts: list[str]) -> Parameters:
    kept = [part for part in parts if not re.match(r"&?\s*('\w+\s+)?(mut\s+)?self\b", part)]
    return Parameters(tuple(part.partition(":")[0].strip() for part in kept))


def _typed(parts: list[str]) -> Parameters:
    """Read what Java, C, C++, JavaScript and TypeScript write."""
    kept = [part for part in parts if part != "void" and "..." not in part and not part.startswith("this:")]
    optional = tuple(_name(part) for part in kept if _has_default(part) or re.match(r"[\w$]+\?", part))
    names = tuple(name for part in kept if (name := _name(part)) not in optional)
    return Parameters(names, optional, _dots(parts))


def _name(part: str) -> str:
    """Return the name of a parameter: before a colon, or the last word."""
    before = re.split(r"[=:?]", part, maxsplit=1)[0].strip() or part
    return _last_of(re.findall(r"[\w$]+", before)) or part


def _last_of(words: list[str]) -> str:
    return words[-1] if words else ""


def _dots(parts: list[str]) -> bool:
    return any("..." in part for part in parts)
