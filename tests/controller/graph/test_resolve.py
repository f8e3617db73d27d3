"""What names lead to, by facts written down here: rules that Python has no use for."""

from controller.graph.facts import Definition, FileFacts, Import, Reference
from controller.graph.link import Linker


def alias(scope: str, bound: str, symbol: str) -> Import:
    return Import(scope, bound, "", symbol, "", 1)


def defined(*quals: str, imports: tuple[Import, ...] = (), references: tuple[Reference, ...] = ()) -> FileFacts:
    kinds = ("class", "method")
    return FileFacts(tuple(Definition(qual, kinds["." in qual], 1, "") for qual in quals), imports, references)


def led(linker: Linker, path: str, *dotted: str) -> set[str]:
    targets, complete = linker.follow(path, "", dotted[0], dotted[1:])
    return {target.id for target in targets} if complete else set()


def test_a_dotted_symbol_is_asked_part_by_part() -> None:
    use = Import("", "go", "pkg.money", "Money.add", "pkg.money", 1)
    linker = Linker({"pkg/money.py": defined("Money", "Money.add"), "a.py": defined(imports=(use,))})
    assert led(linker, "a.py", "go") == {"pkg/money.py::Money.add"}
    (edge,) = [edge for edge in linker.file_edges("a.py").edges if "::" in edge.target]
    assert (edge.target, edge.kind) == ("pkg/money.py::Money.add", "imports")


def test_a_field_leads_to_its_type_and_a_call_to_what_it_returns() -> None:
    imports = (alias("Engine", "money", "Money"), alias("make", "()", "Engine"))
    call = Reference("", "calls", "", "make", ("()", "money", "add"), 3)
    linker = Linker({"a.py": defined("Money", "Money.add", "Engine", "make", imports=imports, references=(call,))})
    assert led(linker, "a.py", "make", "()", "money", "add") == {"a.py::Money.add"}
    edges = {(edge.kind, edge.target) for edge in linker.file_edges("a.py").edges if edge.kind != "defines"}
    assert edges == {("calls", "a.py::Money.add")}, "the names alone make no dependency"


def test_a_type_that_is_its_own_field_ends() -> None:
    loop = (alias("Node", "next", "Node.next"), alias("Node", "self", "Node"))
    linker = Linker({"a.py": defined("Node", imports=loop)})
    assert led(linker, "a.py", "Node", "next") == set()
    assert led(linker, "a.py", "Node", *["self"] * 40) == {"a.py::Node"}


def test_members_defined_away_from_their_class() -> None:
    use = Import("", "Money", "money", "Money", "money", 1)
    files = {
        "money.py": defined("Money", "Money.add"),
        "more.py": defined("Money.sub", imports=(use,)),
        "other.py": defined("Money", "Money.sub"),
        "stray.py": defined("Money.sub"),
    }
    assert led(Linker(files), "money.py", "Money", "sub") == {"more.py::Money.sub"}
    assert led(Linker({**files, "more.py": defined("Money.sub")}), "money.py", "Money", "sub") == set()
    facade = Import("", "Money", "facade", "Money", "facade", 1)
    indirect = {**files, "facade.py": defined(imports=(use,)), "more.py": defined("Money.sub", imports=(facade,))}
    assert led(Linker(indirect), "money.py", "Money", "sub") == {"more.py::Money.sub"}


def test_a_variable_has_what_its_type_has() -> None:
    files = {"a.py": defined("Money", "Money.add", "zero", imports=(alias("zero", "=", "Money"),))}
    assert led(Linker(files), "a.py", "zero", "add") == {"a.py::Money.add"}


def test_a_star_counts_in_its_scope() -> None:
    star = Import("f", "*", "pkg.money", "*", "pkg.money", 1)
    linker = Linker({"pkg/money.py": defined("Money"), "a.py": defined("f", imports=(star,))})
    inside, _ = linker.follow("a.py", "f", "Money", ())
    assert [target.id for target in inside] == ["pkg/money.py::Money"]
    assert linker.follow("a.py", "", "Money", ()) == ([], False)
