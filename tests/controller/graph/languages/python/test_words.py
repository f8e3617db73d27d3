"""Words found in the text say what the nodes of all identifiers say."""

import sysconfig
from pathlib import Path

import pytest

from controller.graph.languages.python import extract as extraction

ODD = b'''
from re import match, compile as case, S as _
import a.b as type, f
async def f(self, x: a.b = f("x") , *, y=f"{f(x)!r:>{type.width}} f() {'f' + f'{case.x}'}"):
    """f() match.x"""
    match x:  # f()
        case case.x: f(f=f).f . f()
        case _: print(f); type.f()
        case type(match=f): return (f
            .x
            .go()) if f else super().f.go()
    type X = f.Y
    lambda self, f=f: self.f(f)
    del f; x.f(); x. f(); _("f"); a\xc3\xa9.f()
    return {f: f for f in f.x if (f := match)} | [f"{f=}", rb"f", f'{{f}}{f}']
class K(f.B, metaclass=match):
    f: f.T = f()
    @f.g
    def go(cls, f: "f"): global case; case = f; cls.f.x(); self.f()
'''


def both(monkeypatch: pytest.MonkeyPatch, source: bytes) -> tuple[object, object]:
    fast = extraction.extract("python", source)
    with monkeypatch.context() as patched:
        patched.setattr(extraction, "_STAR", extraction.re.compile(b""))  # type: ignore[attr-defined]
        return fast, extraction.extract("python", source)


def test_odd_places(monkeypatch: pytest.MonkeyPatch) -> None:
    fast, slow = both(monkeypatch, ODD)
    assert fast == slow
    assert not fast.error_line  # type: ignore[attr-defined]
    assert len(fast.references) == 15  # type: ignore[attr-defined]


@pytest.mark.parametrize("name", ["argparse.py", "typing.py", "asyncio/base_events.py", "test/support/__init__.py"])
def test_real_sources(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    path = Path(sysconfig.get_path("stdlib")) / name
    if path.exists():
        fast, slow = both(monkeypatch, path.read_bytes())
        assert fast == slow
