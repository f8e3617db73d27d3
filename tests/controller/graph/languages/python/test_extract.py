import textwrap
import time
from collections.abc import Callable

import pytest

from controller.graph.facts import FileFacts
from controller.graph.language import facts


def read(source: str) -> FileFacts:
    return facts("python", textwrap.dedent(source).encode())


def leads(source: str) -> set[tuple[str, str, str, str]]:
    """Give (source, kind, scope, dotted) of every reference."""
    return {(r.source, r.kind, r.scope, ".".join((r.root, *r.attrs))) for r in read(source).references}


def test_definitions_with_kind_line_and_signature() -> None:
    found = read(
        '''
        RATE: int = 3
        class Money(Base):
            """Cents."""
            def add(
                self, other: "Money",
            ) -> "Money":
                def inner(): ...
            class Inner:
                async def go(self): ...
        if True:
            @decorated
            def cond(): pass
        type Alias = int
        '''
    ).definitions
    assert [(d.qual, d.kind, d.line) for d in found] == [
        ("RATE", "variable", 2),
        ("Money", "class", 3),
        ("Money.add", "method", 5),
        ("Money.add.inner", "function", 8),
        ("Money.Inner", "class", 9),
        ("Money.Inner.go", "method", 10),
        ("cond", "function", 13),
        ("Alias", "variable", 14),
    ]
    signatures = {d.qual: d.signature for d in found}
    assert signatures["Money"] == "class Money(Base)"
    assert signatures["Money.add"] == 'def add( self, other: "Money", ) -> "Money"'
    assert signatures["Money.Inner.go"] == "async def go(self)"
    assert signatures["RATE"] == "RATE: int = 3"


def test_every_form_of_import() -> None:
    found = read(
        """
        import a.b, c as d
        import a.b.c as e
        from .x import (y as z,
            w)
        from .. import q
        from ...p.r import *
        def f():
            import inner
        """
    ).imports
    assert [(i.scope, i.bound, i.module, i.symbol, i.denotes, i.line) for i in found] == [
        ("", "a", "a.b", "", "a", 2),
        ("", "d", "c", "", "c", 2),
        ("", "e", "a.b.c", "", "a.b.c", 3),
        ("", "z", ".x", "y", ".x", 4),
        ("", "w", ".x", "w", ".x", 5),
        ("", "q", "..", "q", "..", 6),
        ("", "*", "...p.r", "*", "...p.r", 7),
        ("f", "inner", "inner", "", "inner", 9),
    ]


@pytest.mark.parametrize(
    "body",
    [
        "def f(money): money.add()",
        "def f(*money): money.add()",
        "def f(**money): money.add()",
        "def f(money=1): money.add()",
        "def f(money: int): money.add()",
        "def f(money: int = 1): money.add()",
        "def f():\n    money = 1\n    money.add()",
        "def f():\n    money.add()\n    money = 1",
        "def f():\n    a, (money, b) = x\n    money.add()",
        "def f():\n    for money in x: money.add()",
        "def f():\n    with x as money: money.add()",
        "def f():\n    with x as (a, money): money.add()",
        "def f():\n    try: pass\n    except E as money: money.add()",
        "def f():\n    if (money := x): money.add()",
        "def f():\n    match x:\n        case money: money.add()",
        "def f():\n    match x:\n        case [a, *money]: money.add()",
        "def f():\n    match x:\n        case int() as money: money.add()",
        "def f():\n    del money\n    money.add()",
        "def f():\n    money += 1\n    money.add()",
        "def f(): return [money.add() for money in x]",
        "def f(): return {k: money.add() for k, money in x}",
        "f = lambda money: money.add()",
        "f = lambda a=1, *money: money.add()",
        "def f():\n    money = 1\n    def g(): return money.add()",
    ],
)
def test_a_local_hides_an_import_of_its_name(body: str) -> None:
    found = leads(f"import money\n{body}\n")
    assert not {each for each in found if each[3].startswith("money")}
    assert any(each[3] == ".add" for each in found), "the call stays as a bare one"


@pytest.mark.parametrize(
    "body",
    [
        "def f(): money.add()",
        "def f(x=money.add()): pass",
        "def f(money=money.add()): pass",
        "class C:\n    money = 1\n    def f(self): money.add()",
        "def f():\n    global money\n    money = 1\n    money.add()",
        "def f(): return [money.add() for x in y]",
        "f = lambda x: money.add()",
        "@money.add()\ndef f(): pass",
        "def f(x): return g(money=1) + money.add()",
        "def f():\n    def g(money): pass\n    money.add()",
        "def f(x): return f'{money.add()!r}'",
        "def f(x):\n    match x:\n        case C(money=1): money.add()",
        "def f(x):\n    return (money\n        .add())",
    ],
)
def test_an_import_is_seen_where_nothing_hides_it(body: str) -> None:
    assert "money.add" in {each[3] for each in leads(f"import money\n{body}\n")}


def test_bases_are_inherited_and_metaclasses_used() -> None:
    found = leads("from a import B, M, T\nimport c\nclass A(B, c.C[T], metaclass=M): pass\n")
    assert {(kind, name) for _, kind, _, name in found} == {
        ("inherits", "B"), ("inherits", "c.C"), ("uses", "T"), ("uses", "M"),
    }  # fmt: skip


def test_what_belongs_to_a_definition_has_it_as_source() -> None:
    found = leads("from a import dec, T, D, R\n@dec\ndef f(x: T = D) -> R: pass\n")
    assert {source for source, *_ in found} == {"f"}


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("def f(m: Money): m.add()", "Money.add"),
        ("def f(m: Money | None = None): m.add()", "Money.add"),
        ("def f(m: Optional[Money]): m.add()", "Money.add"),
        ("def f():\n    m = Money(1)\n    m.add()", "Money.add"),
        ("def f():\n    m: Money = other()\n    m.add()", "Money.add"),
        ("m = Money(1)\ndef f(): m.add()", "Money.add"),
        ("class C:\n    def __init__(self): self.m = Money(1)\n    def f(self): self.m.add()", "Money.add"),
        ("class C:\n    def __init__(self, m: Money): self.m = m\n    def f(self): self.m.add()", "Money.add"),
        ("class C:\n    def __init__(self, Money: Money): self.m = Money\n    def f(self): self.m.add()", "Money.add"),
        ("def f(): Money(g(1), (2)).add()", "Money.add"),
        ("class C:\n    def f(self): self.g()\n    def g(self): pass", "C.g"),
        ("class C(Money):\n    def f(self): super().add()", "C.super().add"),
        ("class C:\n    @classmethod\n    def f(cls): cls.g()", "C.g"),
    ],
)
def test_instances_lead_to_their_class(body: str, expected: str) -> None:
    assert ("calls", expected) in {(kind, name) for _, kind, _, name in leads(f"from a import Money\n{body}\n")}


@pytest.mark.parametrize(
    "body",
    [
        "def f(m: list[Money]): m.add()",
        "def f(m: Money | Cash): m.add()",
        "def f():\n    m = Money(1)\n    m = x\n    m.add()",
        "def f():\n    m = Money(1).net()\n    m.add()",
        "class C:\n    @staticmethod\n    def f(m): m.add()",
    ],
)
def test_what_nobody_told_is_not_guessed(body: str) -> None:
    found = leads(f"from a import Money\nclass Cash: pass\n{body}\n")
    assert ".add" in {name for *_, name in found}
    assert not {name for *_, name in found if name in ("Money.add", "C.add", "Money.net.add")}


def test_all_is_read_where_it_is_a_list() -> None:
    assert read('__all__ = ["a",\n  "b"]\n').exports == ("a", "b")
    assert read('__all__ = x.__all__ + ["b"]\n').exports is None
    assert read('__all__ = ["a"] + x.__all__\n').exports is None
    assert read("def f(): pass\n").exports is None


def test_a_syntax_error_leaves_what_can_be_read() -> None:
    found = read("import a\ndef good(): a.x()\n\ndef broken(:\n    pass\n\nclass After: pass\n")
    assert {"good", "After"} <= {d.qual for d in found.definitions}
    assert found.imports[0].module == "a"
    assert found.error_line == 4


@pytest.mark.parametrize(
    "source", [b"", b"\xef\xbb\xbfimport a\n", b"\xff\xfe\x00bad", b"x = '\xe9'\r\nimport a\r\n", b"\0" * 50]
)
def test_any_bytes_can_be_read(source: bytes) -> None:
    found = facts("python", source)
    assert isinstance(found, FileFacts)
    assert ("a" in {i.module for i in found.imports}) == (b"import a" in source)


def test_names_beyond_ascii() -> None:
    found = read("import größe\ndef maß(): größe.wert()\n")
    assert found.definitions[0].qual == "maß"
    assert ("größe", ("wert",)) in {(r.root, r.attrs) for r in found.references}


_MANY = 20_000
_HOSTILE: dict[str, Callable[[int], bytes]] = {
    "brackets": lambda n: b"(" * n,
    "lambdas": lambda n: b"lambda:" * n,
    "attributes": lambda n: b"x" + b".a" * n,
    "calls": lambda n: b"f(" * n + b")" * n,
    "comprehensions": lambda n: b"[x for x in " * n + b"y" + b"]" * n,
    "all": lambda n: b"__all__ = [" * n,
    "noise": lambda n: bytes((i * 7919) % 251 for i in range(n * 4)),
    "functions": lambda n: b"".join(b" " * i + b"def f():\n" for i in range(n // 20)),
}


@pytest.mark.parametrize("name", _HOSTILE)
def test_a_hostile_source_costs_what_its_size_costs(name: str) -> None:
    """Each of these took minutes before it was bounded: the cost was the square of the size."""
    make = _HOSTILE[name]
    start = time.process_time()
    facts("python", make(_MANY * 2))
    assert time.process_time() - start < 10


def test_a_variable_of_the_file_is_used_where_it_is_named():
    found = read(
        """
        powers = [1]
        TABLE = {}
        one = Thing()

        def f(x, TABLE):
            for p in powers:
                x = TABLE['a'] + powers[0]
            return one.go()

        def g():
            powers = 2
            return powers, TABLE.get(1)

        last = powers
        """
    )
    uses = {(ref.source, ref.kind, ref.root, ref.attrs) for ref in found.references if ref.root}
    assert uses == {("f", "uses", "powers", ()), ("g", "calls", "TABLE", ("get",)), ("", "uses", "powers", ()),
                    ("f", "calls", "one", ("go",))}  # fmt: skip
