# ruff: noqa: E501 - sources and tables under test, a line each
"""Facts of single Java files, and what links of several show."""

import random
import textwrap
import time
from collections.abc import Callable
from typing import Any

import pytest

from controller.graph.facts import FileFacts
from controller.graph.language import facts


def read(source: str) -> FileFacts:
    return facts("java", textwrap.dedent(source).encode())


def leads(source: str) -> set[tuple[str, str, str, str]]:
    """Give (source, kind, scope, dotted) of every reference."""
    return {(r.source, r.kind, r.scope, ".".join((r.root, *r.attrs))) for r in read(source).references}


def test_definitions_with_kind_line_and_signature() -> None:
    found = read(
        """
        package com.shop;
        @Entity(name = "orders")
        public abstract class Order<T extends Item> extends Base implements Comparable<Order<T>> {
            public static final int LIMIT = 3, LOW = 1;
            private T item;
            @Inject protected Order(T item) throws IOException { this.item = item; }
            public <R> R map(Function<T, R> how) { class Local { void go() {} } return null; }
            abstract void later();
            enum Color { RED(1), GREEN; int code; }
            interface Part { int SIZE = 4; default void cut() {} }
            record Point(int x, int y) { Point { } }
            @interface Mark { String value() default ""; }
        }
        """
    ).definitions
    assert [(d.qual, d.kind, d.line) for d in found] == [
        ("Order", "class", 4), ("Order.LIMIT", "variable", 5), ("Order.LOW", "variable", 5), ("Order.new", "method", 7),
        ("Order.map", "method", 8), ("Order.map.Local", "class", 8), ("Order.map.Local.go", "method", 8),
        ("Order.later", "method", 9), ("Order.Color", "class", 10), ("Order.Color.GREEN", "variable", 10),
        ("Order.Color.RED", "variable", 10), ("Order.Part", "class", 11), ("Order.Part.SIZE", "variable", 11),
        ("Order.Part.cut", "method", 11), ("Order.Point", "class", 12), ("Order.Point.new", "method", 12),
        ("Order.Mark", "class", 13), ("Order.Mark.value", "method", 13),
    ]  # fmt: skip
    signatures = {d.qual: d.signature for d in found}
    assert (
        signatures["Order"]
        == "public abstract class Order<T extends Item> extends Base implements Comparable<Order<T>>"
    )
    assert signatures["Order.new"] == "protected Order(T item) throws IOException"
    assert signatures["Order.later"] == "abstract void later()"


def test_every_form_of_import() -> None:
    found = read(
        """
        package com.shop; // here
        import a.b.C;
        import a.b.C.Inner;
        import a.b.*;
        import a.b.C.*;
        import static a.b.C.max;
        import static a.b.C.*;
        import lower.type;
        import /* odd */ a . b .
            D;
        """
    )
    assert dict(found.settings) == {"package": "com.shop"}
    assert [(i.bound, i.module, i.symbol, i.denotes) for i in found.imports] == [
        ("C", "a.b", "C", "a.b"), ("Inner", "a.b", "C.Inner", "a.b"), ("*", "a.b", "*", "a.b"), ("*", "a.b", "C", "a.b"),
        ("max", "a.b", "C.max", "a.b"), ("*", "a.b", "C", "a.b"), ("type", "lower", "type", "lower"),
        ("D", "a.b", "D", "a.b"),
    ]  # fmt: skip


def test_variables_are_followed_to_their_types() -> None:
    found = leads(
        """
        class A {
            Repo repo = new Repo();
            void f(Bar bar, List<Foo> foos, Baz[] array) {
                bar.go();
                for (Foo foo : foos) foo.run();
                var made = new Made();
                made.it();
                var got = Maker.make();
                got.use();
                this.repo.save();
                repo.load();
                array.clone();
                try (Res res = open()) { res.read(); } catch (Oops | Other e) { e.say(); }
                if (bar instanceof Special s && s.ok()) { ((Cast) bar).cast(); }
                Runnable r = () -> bar.late();
                use(Ref::method, Ref::new);
                new Chain().one().two();
            }
        }
        """
    )
    calls = {dotted for source, kind, _, dotted in found if kind == "calls" and source == "A.f"}
    assert calls >= {
        "Bar.go", "Foo.run", "Made", "Made.it", "Maker.make", "Maker.make.().use", "A.repo.save", "Repo.load", "Res.read",
        "Special.ok", "Cast.cast", "Bar.late", "Chain", "Chain.one", "Chain.one.().two",
    }  # fmt: skip
    assert not any("clone" in dotted and dotted != ".clone" for dotted in calls)
    uses = {dotted for source, kind, _, dotted in found if kind == "uses" and source == "A.f"}
    assert uses >= {"Bar", "Foo", "Baz", "Oops", "Other", "Special", "Ref.method", "Ref"}


def test_blocks_hide_and_type_parameters_lead_nowhere() -> None:
    found = leads(
        """
        class A<T> {
            static int size() { return 1; }
            void f(T t, Other other) {
                { Foo x = null; x.a(); }
                { Bar x = null; x.b(); }
                int size = size();
                t.any();
                other.size();
            }
            <R> R g(R r) { return r; }
        }
        """
    )
    assert ("A.f", "calls", "", "Foo.a") in found
    assert ("A.f", "calls", "", "Bar.b") in found
    assert ("A.f", "calls", "A", "size") in found
    assert not {dotted for *_, dotted in found} & {"T", "R", "T.any", "x.a"}


SHOP = {
    "core/src/main/java/com/shop/Base.java": (
        "package com.shop;\npublic abstract class Base {\n  protected Log sink;\n  protected void note() {}\n"
        "  protected Log log() { return sink; }\n  static class Nested {}\n}\n"
    ),
    "core/src/main/java/com/shop/Log.java": (
        "package com.shop;\npublic class Log {\n  public static final Log ROOT = new Log();\n  public Log write() { return this; }\n}\n"
    ),
    "core/src/main/java/com/shop/util/Texts.java": (
        "package com.shop.util;\npublic class Texts extends More {\n  public static String trim() { return null; }\n}\n"
        "class More { public static void inherited() {} }\n"
    ),
}


def calls_of(arrows: Callable[..., Any], body: str, head: str = "package com.shop;\n") -> set[str]:
    path = "app/src/main/java/com/shop/Use.java"
    found = arrows({**SHOP, path: f"{head}class Use extends com.shop.Base {{\n  void f() {{ {body} }}\n}}\n"})
    start = f"{path}::Use.f -> core/src/main/java/com/shop/"
    return {each.removeprefix(start) for each in found.of("calls", "uses", "inherits") if each.startswith(start)}


@pytest.mark.parametrize(
    ("body", "target"),
    [
        ("note();", "Base.java::Base.note"),  # inherited
        ("super.note();", "Base.java::Base.note"),
        ("this.note();", "Base.java::Base.note"),
        ("sink.write();", "Log.java::Log.write"),  # an inherited field and its type
        ("log().write();", "Log.java::Log.write"),  # what an inherited method returns
        ("log().write().write();", "Log.java::Log.write"),
        ("Log.ROOT.write();", "Log.java::Log.write"),
        ("new Nested();", "Base.java::Base.Nested"),  # an inherited class
        ("new Base.Nested();", "Base.java::Base.Nested"),
        ("com.shop.util.Texts.trim();", "util/Texts.java::Texts.trim"),
        ("Log local = null; local.write();", "Log.java::Log.write"),  # the same package
        ("Runnable r = Log::new;", "Log.java::Log"),
    ],
)
def test_links_inside_a_package(arrows: Callable[..., Any], body: str, target: str) -> None:
    assert target in calls_of(arrows, body)


@pytest.mark.parametrize(
    ("clause", "body", "target"),
    [
        ("import com.shop.util.Texts;", "Texts.trim();", "util/Texts.java::Texts.trim"),
        ("import com.shop.util.*;", "Texts.trim();", "util/Texts.java::Texts.trim"),
        ("import static com.shop.util.Texts.trim;", "trim();", "util/Texts.java::Texts.trim"),
        ("import static com.shop.util.Texts.*;", "trim();", "util/Texts.java::Texts.trim"),
        ("import static com.shop.util.Texts.inherited;", "inherited();", "util/Texts.java::More.inherited"),
        ("import com.shop.Base.Nested;", "new Nested();", "Base.java::Base.Nested"),
        ("import com.shop.Base.*;", "new Nested();", "Base.java::Base.Nested"),
    ],
)
def test_links_through_imports(arrows: Callable[..., Any], clause: str, body: str, target: str) -> None:
    assert target in calls_of(arrows, body, f"package com.shop.app;\n{clause}\n")


def test_an_imported_class_hides_that_of_the_package(arrows: Callable[..., Any]) -> None:
    assert calls_of(arrows, "Log.of();", "package com.shop;\nimport org.other.Log;\n") == set()


def test_third_party_classes_are_external(arrows: Callable[..., Any]) -> None:
    source = "import org.junit.Test;\nimport java.util.*;\nclass A { @Test void t() { com.acme.Tool.go(); } }\n"
    assert arrows({"A.java": source}).of("imports") == {
        "A.java -> ext:org.junit", "A.java -> ext:java.util", "A.java -> ext:com.acme",
    }  # fmt: skip


def mutated(source: bytes, chance: random.Random) -> bytes:
    text = bytearray(source)
    for _ in range(chance.randrange(1, 12)):
        at = chance.randrange(len(text) or 1)
        match chance.randrange(4):
            case 0:
                del text[at : at + chance.randrange(1, 40)]
            case 1:
                text[at:at] = bytes(chance.choices(b"(){}[]<>;:.,\"'@*&=\\\n \xff\x00abC", k=chance.randrange(1, 9)))
            case 2:
                text[at:at] = text[at // 2 : at // 2 + chance.randrange(1, 60)]
            case _:
                text[at : at + 1] = bytes([chance.randrange(256)])
    return bytes(text)


def test_no_input_raises() -> None:
    sources = [text.encode() for text in SHOP.values()]
    for seed in range(150):
        chance = random.Random(seed)
        found = facts("java", mutated(chance.choice(sources) * chance.randrange(1, 3), chance))
        quals = {each.qual for each in found.definitions}
        assert {each.source for each in found.references} <= quals | {""}


@pytest.mark.parametrize(
    "source",
    [
        b"class A { int f() { return " + b"(" * 20_000, b"class A { void f() { " + b"a." * 30_000 + b"b(); } }",
        b"class A { void f() { x" + b".go()" * 20_000 + b"; } }", b"class A " + b"{ class B " * 3_000,
        b"@A(" * 10_000, b"\xff\xfe" * 50_000, b"import a." * 20_000, b"class A<" + b"T extends B<" * 5_000,
        b"/*" + b"*" * 200_000, b"class A { int " + b"x," * 20_000 + b"y; }", b"\n" * 400_000,
    ],
)  # fmt: skip
def test_hostile_input_is_quick(source: bytes) -> None:
    started = time.process_time()
    facts("java", source)
    assert time.process_time() - started < 3
