"""How an assertion of a test came to say less, or something else: told of pairs that are alike, and only of those."""

import builtins
import re
from collections.abc import Sequence
from typing import NamedTuple


class Assertion(NamedTuple):
    """One assertion that can fail, in any language.

    `subject` is what is looked at, `verb` how (`==`, `assertEqual`, `toBe`), `frame` the text with what is expected
    left out, `values` that, as (role, text): role is empty for an expected value, else what bounds it, such as `abs`,
    `places`, `match`, or `raises`.
    """

    text: str
    subject: str = ""
    verb: str = ""
    frame: str = ""
    values: tuple[tuple[str, str], ...] = ()


_WIDER_IF_GREATER = frozenset({"abs", "rel", "rtol", "atol", "delta", "rel_tol", "abs_tol", "epsilon"})
_WIDER_IF_LESS = frozenset({"places", "digits", "decimal", "significant"})

_EXACT = frozenset(
    {"==", "===", "is", "assertEqual", "assertIs", "assertListEqual", "assertDictEqual", "assert_equal",
     "toBe", "toEqual", "toStrictEqual", "equal", "strictEqual", "deepEqual", "deepStrictEqual", "eql",
     "Equal", "EqualValues", "assert_eq", "assertEquals", "assertSame", "isEqualTo", "isSameAs"}
)  # fmt: skip
_LOOSE = frozenset(
    {"in", ">=", "<=", "!=", "is not", "not-none", "truthy", "assertIn", "assertTrue", "assertIsNotNone",
     "assertNotEqual", "assertGreaterEqual", "assertLessEqual", "toBeDefined", "toBeTruthy", "toContain",
     "not.toBeNull", "not.toBeUndefined", "not.toBe", "not.toEqual", "toBeGreaterThanOrEqual", "toBeLessThanOrEqual",
     "ok", "notEqual", "NotEqual", "NotNil", "True", "NotEmpty", "Contains", "assert_ne", "assert", "exist",
     "assertNotNull", "assertNotEquals", "isNotNull", "isNotEqualTo", "contains", "include"}
)  # fmt: skip
_SHOWN = 100
_MOST_SAID = 5


def weaker(was: Sequence[Assertion], now: Sequence[Assertion]) -> str:
    """Say what got weaker or expects something else among assertions that differ; empty where nothing is sure."""
    old, new = _without(was, now), _without(now, was)
    said = []
    for before in old:
        for index, after in enumerate(new):
            if how := _how(before, after):
                said.append(how)
                new.pop(index)
                break
            if before.frame and before.frame == after.frame:  # tightened: no other is to be compared with it
                new.pop(index)
                break
    return "; ".join(said[:_MOST_SAID])


def _without(some: Sequence[Assertion], others: Sequence[Assertion]) -> list[Assertion]:
    left = [other.text for other in others]
    kept = []
    for each in some:
        if each.text in left:
            left.remove(each.text)
        else:
            kept.append(each)
    return kept


def _how(before: Assertion, after: Assertion) -> str:
    if before.frame and before.frame == after.frame and len(before.values) == len(after.values):
        return _values(before, after)
    if not before.subject or before.subject != after.subject:
        return ""
    if before.verb in _EXACT and after.verb in _LOOSE:
        return f"`{_short(before.text)}` became `{_short(after.text)}`, which accepts more"
    gone = {role for role, _ in before.values} - {role for role, _ in after.values}
    if before.verb == after.verb and gone and not ({role for role, _ in after.values} - _roles(before)):
        words = ", ".join(sorted(role or "the expected value" for role in gone))
        return f"`{_short(after.text)}` no longer says {words}: it was `{_short(before.text)}`"
    grown = {role for role, _ in after.values} - _roles(before)
    if before.verb == after.verb and grown & (_WIDER_IF_GREATER | _WIDER_IF_LESS):
        return f"`{_short(before.text)}` became `{_short(after.text)}`, which accepts more"
    return ""


def _roles(assertion: Assertion) -> set[str]:
    return {role for role, _ in assertion.values}


def _values(before: Assertion, after: Assertion) -> str:
    said = []
    for (role, old), (other, new) in zip(before.values, after.values, strict=True):
        if role != other or old == new:
            continue
        if not role:
            said.append(f"`{_short(after.frame)}` now expects {_short(new)} instead of {_short(old)}")
        elif role == "raises":
            wide = " (which is broader)" if _is_broader(old, new) else ""
            said.append(f"`{_short(after.text)}` now expects {new}{wide} instead of {old}")
        elif role == "match":
            if _matches_more(old, new):
                said.append(f"`{_short(after.text)}` matches more than {_short(old)}")
        elif _is_wider(role, old, new):
            said.append(f"`{_short(after.text)}` has {role} {new} instead of {old}")
    return "; ".join(said)


def _is_wider(role: str, old: str, new: str) -> bool:
    try:
        before, after = float(old.replace("_", "").rstrip("fFdD")), float(new.replace("_", "").rstrip("fFdD"))
    except ValueError:
        return False
    return after > before if role in _WIDER_IF_GREATER else role in _WIDER_IF_LESS and after < before


def _is_broader(old: str, new: str) -> bool:
    """Say whether the new exception is an ancestor of the old one, as far as Python's own are concerned."""
    one, other = (getattr(builtins, name.rpartition(".")[2], None) for name in (old, new))
    both = isinstance(one, type) and isinstance(other, type)
    return both and one is not other and issubclass(one, other)  # type: ignore[arg-type]


def _matches_more(old: str, new: str) -> bool:
    """Say so where it is plain: anything matches, or the new pattern is a literal part of the old one."""
    before, after = _pattern(old), _pattern(new)
    if after in {"", ".*", ".+", ".", "^.*$"}:
        return True
    return re.escape(after) == after.replace(" ", "\\ ") and after in before and after != before


def _pattern(text: str) -> str:
    return re.sub(r"^[rRbBuU]*([\"'/])(.*)\1[a-z]*$", r"\2", text, flags=re.DOTALL)


def _short(text: str) -> str:
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
