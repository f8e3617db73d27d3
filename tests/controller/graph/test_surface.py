"""What others rely on, in every language: names that are gone, calls that no longer fit."""

from collections.abc import Callable, Mapping

import pytest

from packets.graph import GraphReport

Between = Callable[..., GraphReport]

JAVA = "src/main/java/s"
SHOPS: Mapping[str, tuple[Mapping[str, str], str, str, str]] = {
    "python": (
        {
            "m/money.py": "def add(a): pass\ndef _own(a): pass\n",
            "u.py": "from m.money import add, _own\n\nadd(1)\n_own(1)\n",
        },
        "m/money.py", "def add(a): pass\ndef _own(a): pass\n", "u.py:1 u.py:3",
    ),
    "script": (
        {
            "m/money.ts": "export function add(a: number) {}\nfunction own() {}\n",
            "u.ts": "import { add } from './m/money';\n\nadd(1);\n",
        },
        "m/money.ts", "export function add(a: number) {}\n", "u.ts:1 u.ts:3",
    ),
    "go": (
        {
            "go.mod": "module s\n", "m/money.go": "package m\n\nfunc Add(a int) {}\n",
            "u/u.go": 'package u\n\nimport "s/m"\n\nfunc F() { m.Add(1) }\n',
        },
        "m/money.go", "\nfunc Add(a int) {}\n", "u/u.go:5",
    ),
    "rust": (
        {
            "Cargo.toml": '[package]\nname = "s"\n', "src/lib.rs": "pub mod money;\npub mod u;\n",
            "src/money.rs": "pub fn add(a: i32) {}\n", "src/u.rs": "use crate::money::add;\n\nfn f() { add(1); }\n",
        },
        "src/money.rs", "pub fn add(a: i32) {}\n", "src/u.rs:1 src/u.rs:3",
    ),
    "java": (
        {
            f"{JAVA}/m/Money.java": "package s.m;\npublic class Money {\n  public static void add(int a) {}\n}\n",
            f"{JAVA}/u/U.java": "package s.u;\nimport s.m.Money;\nclass U {\n  void f() { Money.add(1); }\n}\n",
        },
        f"{JAVA}/m/Money.java", "  public static void add(int a) {}\n", f"{JAVA}/u/U.java:4",
    ),
    "c": (
        {"m/money.h": "void add(int a);\n", "u.c": '#include "m/money.h"\n\nvoid f(void) { add(1); }\n'},
        "m/money.h", "void add(int a);\n", "u.c:3",
    ),
}  # fmt: skip


@pytest.mark.parametrize("language", SHOPS)
def test_a_public_name_that_goes_names_its_users(between: Between, language: str) -> None:
    base, path, gone, users = SHOPS[language]
    report = between(base, {path: base[path].replace(gone, "")}, module={"write_scope": [path]})
    (use,) = report.surface_in_use
    assert use.symbol.rpartition("::")[2].rpartition(".")[2].lower() == "add"
    assert use.users == tuple(users.split())


@pytest.mark.parametrize("language", SHOPS)
def test_a_call_that_no_longer_fits_is_told_with_its_places(between: Between, language: str) -> None:
    base, path, _, users = SHOPS[language]
    head = base[path].replace("a int)", "a int, b int)").replace("(a: number)", "(a: number, b: number)")
    head = (
        head.replace("(a: i32)", "(a: i32, b: i32)").replace("(int a)", "(int a, int b)").replace("add(a)", "add(a, b)")
    )
    assert head != base[path]
    report = between(base, {path: head}, module={"write_scope": [path]})
    (change,) = report.signatures
    assert (change.why, change.users) == ("needs b now", tuple(users.split()[-1:]))
    assert (change.path, ", b" in change.before, ", " in change.after) == (path, False, True)
    assert report.surface_in_use == ()


def test_a_constructor_is_called_by_who_makes_one(between: Between) -> None:
    base = {"m.py": "class M:\n    def __init__(self, a): pass\n", "u.py": "from m import M\n\nM(1)\n"}
    report = between(base, {"m.py": "class M:\n    def __init__(self, a, b): pass\n"}, module={"write_scope": ["m.py"]})
    (change,) = report.signatures
    assert (change.symbol, change.users) == ("m.py::M.__init__", ("u.py:3",))


@pytest.mark.parametrize(
    "head",
    [
        "def add(a, b=1): pass\n",  # every call stays good
        "def add(\n    a,\n): pass\n",
        "import x\n@x.overload\ndef add(a, b): ...\n@x.overload\ndef add(a): ...\ndef add(a, b=1): pass\n",
    ],
)
def test_what_breaks_no_call_is_not_told(between: Between, head: str) -> None:
    base = {"m.py": "def add(a): pass\n", "u.py": "from m import add\n\nadd(1)\n"}
    assert between(base, {"m.py": head}, module={"write_scope": ["m.py"]}).signatures == ()


def test_calls_of_the_module_itself_are_its_own_business(between: Between) -> None:
    base = {"m.py": "def add(a): pass\n\nadd(1)\n"}
    assert (
        between(base, {"m.py": "def add(a, b): pass\n\nadd(1, 2)\n"}, module={"write_scope": ["m.py"]}).signatures == ()
    )
