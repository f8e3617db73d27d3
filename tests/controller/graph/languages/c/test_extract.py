# ruff: noqa: E501 - sources and tables under test, a line each
"""Facts of single C and C++ files, and what links of several show."""

import random
import textwrap
import time
from collections.abc import Callable
from typing import Any

import pytest

from controller.graph.facts import FileFacts
from controller.graph.language import facts


def read(source: str, kind: str = "c") -> FileFacts:
    return facts(kind, textwrap.dedent(source).encode())


def defined(found: FileFacts) -> list[tuple[str, str, int]]:
    return [(d.qual, d.kind, d.line) for d in found.definitions]


def test_definitions_of_c() -> None:
    found = read(
        """
        #ifndef GUARD_H
        #define GUARD_H
        #define LIMIT 3
        #define TWICE(x) ((x) + helper(x))
        typedef struct node { int v; struct node *next; } node_t;
        typedef int (*compare)(const node_t *, const node_t *);
        typedef struct { int a; } pair;
        typedef struct opaque opaque;
        struct later;
        enum color { RED, GREEN = 2 };
        union either { int a; float b; };
        static int counter = 0, *other;
        extern int elsewhere;
        int declared(struct node *n);
        PyAPI_FUNC(int) exported(void);
        static inline node_t *make(int v) { int local = v; return 0; }
        int old(a, b) int a; char *b; { return a; }
        int (*getter(int x))(void) { return 0; }
        #ifdef A
        void one(void) {}
        #else
        void two(void) {}
        #endif
        #endif
        """
    )
    assert defined(found) == [
        ("LIMIT", "variable", 4), ("TWICE", "function", 5), ("node", "class", 6), ("node_t", "class", 6),
        ("compare", "class", 7), ("pair", "class", 8), ("GREEN", "variable", 11), ("RED", "variable", 11),
        ("color", "class", 11), ("either", "class", 12), ("counter", "variable", 13), ("other", "variable", 13),
        ("elsewhere", "variable", 14), ("declared", "function", 15), ("exported", "function", 16),
        ("make", "function", 17), ("old", "function", 18), ("getter", "function", 19), ("one", "function", 21),
        ("two", "function", 23),
    ]  # fmt: skip
    signatures = {d.qual: d.signature for d in found.definitions}
    assert signatures["declared"] == "int declared(struct node *n);"
    assert signatures["elsewhere"] == "extern int elsewhere;"
    assert signatures["make"] == "static inline node_t *make(int v)"
    assert {i.bound for i in found.imports} == {"opaque", "later"}
    assert found.error_line == 0


def test_definitions_of_cpp() -> None:
    found = read(
        """
        namespace a { namespace b {
        class Later;
        template <typename T, int N = 3> class Vec : public Base<T>, private ns::Other {
        public:
          Vec() : size_(0) {}
          ~Vec();
          virtual int size() const = 0;
          T& operator[](int i) { return data_[i]; }
          static Vec make(const Foo& f);
          explicit operator bool() const;
          using value = T;
          enum class E { A, B };
          enum { PLAIN };
          struct In { int q; };
          static const int LIMIT = 3;
        private:
          T* data_; int size_; Foo foo_{1};
        };
        }
        inline int helper() { return 1; }
        }
        namespace c::d { constexpr int K = 3; }
        template <class T> int a::b::Vec<T>::size() const { return 1; }
        class EXPORT Marked final : public Foo { void m() override; };
        extern "C" { int plain(void); }
        TEST_F(Suite, Name) { run(); }
        namespace { int hidden; }
        """,
        "cpp",
    )
    assert defined(found) == sorted(
        [
        ("a.b.Vec", "class", 4), ("a.b.Vec.new", "method", 6), ("a.b.Vec.~Vec", "method", 7), ("a.b.Vec.size", "method", 24),
        ("a.b.Vec.operator[]", "method", 9), ("a.b.Vec.make", "method", 10), ("a.b.Vec.operator bool", "method", 11),
        ("a.b.Vec.value", "class", 12), ("a.b.Vec.E", "class", 13), ("a.b.Vec.E.A", "variable", 13),
        ("a.b.Vec.E.B", "variable", 13), ("a.b.Vec.PLAIN", "variable", 14), ("a.b.Vec.In", "class", 15),
        ("a.b.Vec.LIMIT", "variable", 16), ("a.helper", "function", 21), ("c.d.K", "variable", 23),
        ("Marked", "class", 25), ("Marked.m", "method", 25), ("plain", "function", 26), ("Suite.Name", "method", 27),
        ("hidden", "variable", 28),
        ],
        key=lambda row: (row[2], row[0]),
    )  # fmt: skip
    signatures = {d.qual: d.signature for d in found.definitions}
    assert signatures["a.b.Vec.make"] == "static Vec make(const Foo& f);"
    assert signatures["a.b.Vec.size"] == "int a::b::Vec<T>::size() const"


def test_includes_and_using() -> None:
    found = read(
        """
        #include "x.h"
        #include <sys/types.h>
        #include MACRO
        using namespace a::b;
        using c::Thing;
        using std::string;
        namespace short_ = a::b;
        """,
        "cpp",
    ).imports
    assert [(i.bound, i.module, i.symbol, i.denotes) for i in found] == [
        ("*", "x.h", "*", "x.h"), ("*", "<sys/types.h>", "*", "<sys/types.h>"), ("*", "", "a.b", ""),
        ("Thing", "", "c.Thing", ""),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("source", "cpp"),
    [
        ("int f(void);\n", False), ('#ifdef __cplusplus\nextern "C" {\n#endif\nint f(void);\n#ifdef __cplusplus\n}\n#endif\n', False),
        ("/* class Foo; std::x */ int f(void); // namespace a {\n", False), ("struct s { int class; };\n", False),
        ("class Foo;\n", True), ("namespace a {\n}\n", True), ("template <class T> T f(T t);\n", True),
        ("#include <vector>\n", True), ("void f(std::string s);\n", True), ("struct s {\npublic:\n int a; };\n", True),
    ],
)  # fmt: skip
def test_a_header_is_c_or_cpp_by_what_it_says(source: str, cpp: bool) -> None:  # noqa: FBT001
    from controller.graph.languages.c.text import is_cpp

    assert is_cpp(source.encode()) == cpp
    assert facts("header", source.encode()) == facts("cpp" if cpp else "c", source.encode())


def test_c_plus_plus_guards_do_not_hide_what_they_guard() -> None:
    header = '#ifdef __cplusplus\nextern "C" {\n#endif\nint first(void);\n#if defined(__cplusplus)\n} // extern\n#endif\nint last(void);\n'
    found = read(header, "header")
    assert [d.qual for d in found.definitions] == ["first", "last"]
    assert found.error_line == 0


@pytest.mark.parametrize(
    "source",
    [
        "int f(int a) {\n#ifdef X\n if (a) {\n#else\n if (!a) {\n#endif\n g(); }\n return 0; }\nint after(void) { return f(1); }\n",
        "struct s {\n int value GUARDED_BY(lock);\n};\nint f(int) REQUIRES(lock);\nint after(void) { return f(1); }\n",
        "API_EXPORT int API_CALL f(int a);\nint after(void) { return f(1); }\n",
        "DECLARE_THING(a, b)\nint f(int a);\nint after(void) { return f(1); }\n",
    ],
)
def test_what_only_a_preprocessor_reads_costs_nothing_else(source: str) -> None:
    found = read(source, "cpp")
    assert {"f", "after"} <= {d.qual for d in found.definitions}
    assert ("after", "calls", "f") in {(r.source, r.kind, r.root) for r in found.references}


TREE = {
    "include/shop/money.h": (
        "#ifndef M\n#define M\nstruct money { long cents; };\nint money_add(struct money *m, long cents);\n"
        "extern int money_scale;\nint nowhere(void);\n#define MONEY_MAX 9\n#endif\n"
    ),
    "include/shop/all.h": '#include "money.h"\n',
    "src/money.c": (
        '#include "shop/money.h"\nint money_scale = 2;\nstatic int hidden(void) { return 1; }\n'
        "int money_add(struct money *m, long cents) { return hidden(); }\n"
    ),
    "src/other.c": "static int money_add(int a) { return a; }\nint use_own(void) { return money_add(1); }\n",
}


def test_links_of_c(arrows: Callable[..., Any]) -> None:
    source = (
        "#include <shop/all.h>\nint f(struct money *m) {\n  void (*p)(void) = 0;\n  money_add(m, MONEY_MAX);\n"
        "  nowhere(); p(); hidden();\n  return money_scale;\n}\nint (*table[])(struct money *, long) = { money_add };\n"
    )
    found = arrows({**TREE, "app/main.c": source})
    assert {each.removeprefix("app/main.c") for each in found.of("calls", "uses", "imports") if "app/main.c" in each} == {
        " -> include/shop/all.h", "::f -> include/shop/money.h::money", "::f -> include/shop/money.h::MONEY_MAX",
        "::f -> src/money.c::money_add", "::f -> include/shop/money.h::nowhere", "::f -> src/money.c::money_scale",
        "::table -> include/shop/money.h::money", "::table -> src/money.c::money_add",
    }  # fmt: skip
    assert "src/other.c::use_own -> src/other.c::money_add" in found.of("calls")
    assert "src/money.c::money_add -> src/money.c::hidden" in found.of("calls")
    edge = next(e for e in found.graph.edges if e.source == "app/main.c::f" and e.target == "src/money.c::money_add")
    assert edge.via == "include/shop/money.h"


CPP = {
    "a/base.hpp": (
        "namespace shop {\nclass Log { public: Log& write(); static Log& root(); int level = 0; };\n"
        "struct Base { virtual void note(); Log log_; Log* log(); enum Mode { FAST }; };\nextern Log shared;\n}\n"
    ),
    "a/base.cpp": (
        '#include "base.hpp"\nnamespace shop {\nLog shared;\nLog& Log::write() { return *this; }\nLog& Log::root() { return shared; }\n'
        "void Base::note() { log_.write(); }\nLog* Base::log() { return &log_; }\n}\n"
    ),
    "a/fwd.hpp": "namespace shop { class Log; void take(Log* log); }\n",
}


@pytest.mark.parametrize(
    ("body", "target"),
    [
        ("note();", "base.cpp::shop.Base.note"),  # inherited, declared in the class, defined in the source
        ("this->note();", "base.cpp::shop.Base.note"), ("Base::note();", "base.cpp::shop.Base.note"),
        ("log_.write();", "base.cpp::shop.Log.write"), ("log()->write().write();", "base.cpp::shop.Log.write"),
        ("Log::root();", "base.cpp::shop.Log.root"), ("Log::root().write();", "base.cpp::shop.Log.write"),
        ("shared.write();", "base.cpp::shop.Log.write"), ("shop::shared.write();", "base.cpp::shop.Log.write"),
        ("::shop::Log l; l.write();", "base.cpp::shop.Log.write"), ("auto l = Log(); l.write();", "base.cpp::shop.Log.write"),
        ("auto* l = new Log(); l->write();", "base.cpp::shop.Log.write"),
        ("std::unique_ptr<Log> l; l->write();", "base.cpp::shop.Log.write"),
        ("auto l = std::make_shared<Log>(); l->write();", "base.cpp::shop.Log.write"),
        ("for (Log& l : logs) l.write();", "base.cpp::shop.Log.write"),
        ("auto f = [](Log& l) { l.write(); };", "base.cpp::shop.Log.write"),
        ("static_cast<Log*>(p)->write();", "base.cpp::shop.Log.write"), ("int m = FAST;", "base.hpp::shop.Base.Mode"),
        ("std::vector<Log> all;", "base.hpp::shop.Log"), ("s::Log l;", "base.hpp::shop.Log"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("around", ["namespace shop { BODY }", "using namespace shop; BODY", "using shop::Log; BODY"])
def test_links_of_cpp(arrows: Callable[..., Any], body: str, target: str, around: str) -> None:
    base, shared = "shop::Base", "shop::shared" if "using shop::Log" in around else "shared"
    code = f"struct Use : {base} {{ void f(); }};\nvoid Use::f() {{ {body} }}".replace("shared.", f"{shared}.")
    if "shop::shop" in code or ("using shop::Log" in around and "Base::note" in body):
        return
    text = '#include "base.hpp"\nnamespace s = shop;\n' + around.replace("BODY", code)
    found = arrows({**CPP, "a/use.cpp": text}).of("calls", "uses")
    wanted = "a/base.hpp::shop.Base.FAST" if target.endswith("Mode") else f"a/{target}"
    assert {each.partition(" -> ")[2] for each in found if each.startswith("a/use.cpp::")} >= {wanted}


def test_a_class_that_is_only_named_leads_to_its_definition(arrows: Callable[..., Any]) -> None:
    assert "a/fwd.hpp::shop.take -> a/base.hpp::shop.Log" in arrows(CPP).of("uses")


def mutated(source: bytes, chance: random.Random) -> bytes:
    text = bytearray(source)
    for _ in range(chance.randrange(1, 12)):
        at = chance.randrange(len(text) or 1)
        match chance.randrange(4):
            case 0:
                del text[at : at + chance.randrange(1, 40)]
            case 1:
                text[at:at] = bytes(chance.choices(b"(){}[]<>;:.,\"'#*&=~\\\n \xff\x00abC", k=chance.randrange(1, 9)))
            case 2:
                text[at:at] = text[at // 2 : at // 2 + chance.randrange(1, 60)]
            case _:
                text[at : at + 1] = bytes([chance.randrange(256)])
    return bytes(text)


@pytest.mark.parametrize("kind", ["c", "header", "cpp"])
def test_no_input_raises(kind: str) -> None:
    sources = [text.encode() for text in (*TREE.values(), *CPP.values())]
    for seed in range(100):
        chance = random.Random(seed)
        found = facts(kind, mutated(chance.choice(sources) * chance.randrange(1, 3), chance))
        quals = {each.qual for each in found.definitions}
        assert {each.source for each in found.references} <= quals | {""}


@pytest.mark.parametrize("kind", ["c", "cpp"])
@pytest.mark.parametrize(
    "source",
    [
        b"int f() { return " + b"(" * 5_000, b"int f() { " + b"a->" * 5_000 + b"b(); }", b"a::" * 5_000, b"struct A { " * 1_000,
        b"#if A\n" * 5_000, b"#define A(" * 5_000, b"\xff\xfe" * 9_000, b"A<" * 5_000, b"/*" + b"*" * 50_000,
        b"int " + b"x," * 9_000 + b"y;", b"MACRO(" * 5_000, b"MACRO \n" * 5_000, b"word " * 9_000, b"f(" + b"*" * 9_000,
        b"#ifdef __cplusplus\n" * 5_000, b"class A " * 5_000, b"} else {\n" * 5_000, b")\n" * 9_000 + b"MACRO",
    ],
)  # fmt: skip
def test_hostile_input_is_quick(kind: str, source: bytes) -> None:
    started = time.process_time()
    facts(kind, source)
    assert time.process_time() - started < 2
