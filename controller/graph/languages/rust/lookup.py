"""Where names of one Rust file lead: `Self`, `self::`, `super::` and `crate::`, and crates named without a `use`."""

from controller.graph.facts import Import
from controller.graph.languages import chains
from controller.graph.languages.blocks import Chain, Scope, split_mark
from controller.graph.languages.chains import Target
from controller.graph.languages.rust.names import SILENT, VAGUE


class References(chains.References):
    """Knows the words with which a path may begin. `written` are the rows that these words need."""

    def __init__(self, source: bytes) -> None:
        super().__init__(source, SILENT, VAGUE, unbound=False)
        self._externs: dict[str, Import] = {}
        self._words: dict[str, Import] = {}

    def rows(self) -> list[Import]:
        """Return what the words and crates in use denote."""
        return [*self._externs.values(), *self._words.values()]

    def extern(self, scope: Scope, root: str, at: int) -> None:
        """Note a path that begins with a name which nothing in the file binds: a crate, unless a star brings it."""
        starred = False
        for each in scope.outward():
            if root in each.members or root in each.imported or root in each.opaque:
                return
            starred = starred or each.stars > 0
            if each.apart:
                break
        self._externs.setdefault(root, Import("", root, "" if starred else root, "", root, self.line(at)))

    def outside(self, chain: Chain) -> Target | None:
        """Return a crate."""
        return ("", chain[0], chain[1:]) if chain[0] in self._externs else None

    def target(self, scope: Scope, chain: Chain, at: int, *, bare: bool, turn: int = 0) -> Target | None:
        """Return where a chain leads, whatever it begins with."""
        root = chain[0]
        if root == "crate":
            return self._word(root, chain[1:])
        if root in ("self", "super") and (bare or root == "super"):
            return self._module(scope, chain)
        if root == "Self":
            own = next((each for each in scope.outward() if each.kind == "class"), None)
            chain = (*own.own, *chain[1:]) if own and own.own else ()
            scope = own.parent or own if own and own.opaque.keys().isdisjoint(own.own) else scope
            bare = True
        if not chain or chain[0] == "Self" or not (bare or chain[1:2] in _ALONE or _local(scope, root)):
            return None
        return super().target(scope, chain, at, bare=bare, turn=turn)

    def _module(self, scope: Scope, chain: Chain) -> Target | None:
        """Return where a path leads that begins at a module around."""
        module: Scope | None = _module_of(scope)
        rest, above = chain, 0
        if rest[0] == "self":
            rest = rest[1:]
        while rest and rest[0] == "super":
            rest = rest[1:]
            if module and module.parent:
                module = _module_of(module.parent)
            else:
                above += 1
        if above or not rest:
            return self._word("::".join(["super"] * above), rest) if above else None
        return (module.qual if module else "", rest[0], rest[1:])

    def _word(self, word: str, rest: Chain) -> Target | None:
        self._words.setdefault(word, Import("", word, "", "", word, 1))
        return ("", word, rest) if rest else None


_ALONE: tuple[Chain, ...] = ((), ("()",))


def _local(scope: Scope, name: str) -> bool:
    """Tell whether a name is a local: modules and functions have no members after a dot."""
    root, _ = split_mark(name)
    for each in scope.outward():
        if root in each.values:
            return True
        if each.closed:
            break
    return False


def _module_of(scope: Scope) -> Scope:
    return next(each for each in scope.outward() if each.kind in ("module", "file"))
