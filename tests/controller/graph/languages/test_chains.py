"""Where dotted names lead from a scope: locals replaced by their types, names that others may bind."""

from controller.graph.languages.blocks import Chain, Scope, Sweep, Told
from controller.graph.languages.chains import References, Target, Use


def world() -> tuple[References, Scope, Scope]:
    sweep = Sweep(1_000)
    sweep.file.members |= {"Money", "new"}
    sweep.file.imported.add("pkg")
    function = sweep.enter(Scope("function", 10, 900, "f", node=True))
    function.opaque |= {"T": ("Money",), "U": None}
    return References(b"\n" * 1_000, frozenset({"int"}), frozenset({"len"}), unbound=True), sweep.file, function


def led(chain: Chain, at: int = 500, *, bare: bool = False) -> Target | None:
    references, _, function = world()
    function.bind("m", 100, Told(("Money",)))
    function.bind("n", 100, Told(("m", "sum"), bare=False))
    function.bind("n", 200, Told(("new", "()"), bare=False), 150)
    function.bind("all", 100, Told(("Money",), "[]"))
    function.bind("x", 100)
    function.bind("loop", 100, Told(("loop", "next"), bare=False), 120)
    return references.target(function, chain, at, bare=bare)


def test_locals_are_replaced() -> None:
    assert led(("m", "add")) == ("", "Money", ("add",))
    assert led(("n", "add"), 150) == ("", "Money", ("sum", "add"))
    assert led(("n", "add")) == ("", "new", ("()", "add"))
    assert led(("all[]", "add")) == ("", "Money", ("add",))
    assert led(("t", "add")) == ("", "t", ("add",)), "nothing here binds it: another file may"


def test_what_nobody_can_know() -> None:
    for chain in (("x", "add"), ("m",), ("all", "add"), ("loop", "add"), ("U", "add"), ("T",), ("int", "x")):
        assert led(chain) is None, chain


def test_bounds_imports_and_names_of_types() -> None:
    assert led(("T", "add")) == ("", "Money", ("add",))
    assert led(("pkg", "New")) == ("", "pkg", ("New",))
    assert led(("m", "add"), bare=True) == ("", "m", ("add",)), "no local hides a type"


def test_calls_of_unknown_things_stay_by_name() -> None:
    references, file, function = world()
    function.bind("x", 100)
    for chain in (("x", "add"), ("x", "len"), ("pkg", "New"), ("pkg", "New")):
        references.add(Use(function, "calls", chain, 300))
    references.add(Use(file, "uses", ("x",), 400))
    found = [(each.source, each.kind, each.root, each.attrs) for each in references.collect()]
    assert found == [("f", "calls", "", ("add",)), ("f", "calls", "pkg", ("New",)), ("", "uses", "x", ())]


def test_an_alias_tells_the_type_of_a_field() -> None:
    references, file, _ = world()
    row = references.alias(file, "Engine", "items", Told(("pkg", "Item"), "[]"), 5)
    assert row is not None
    assert (row.scope, row.bound, row.symbol, row.denotes) == ("Engine", "items[]", "pkg.Item", "")
    assert references.alias(file, "Engine", "x", Told(("int",)), 5) is None
