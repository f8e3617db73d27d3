"""How names of Java that nothing in their file binds are asked for in others."""

from collections.abc import Sequence

from controller.graph.facts import Import
from controller.graph.languages.java.imports import Qualified
from controller.graph.languages.typed import Chain, References, Scope, Sweep, Target


class JavaReferences(References):
    """Types may come from the package, from imports of everything, and from what a class extends; so may the rest."""

    def __init__(self, sweep: Sweep, source: bytes, qualified: Qualified, imports: Sequence[Import]) -> None:
        super().__init__(sweep, source)
        self.qualified = qualified
        self._stars = any(each.bound == "*" and each.symbol != "*" for each in imports)

    def unbound(self, scope: Scope, chain: Chain, at: int) -> Target | None:
        """Return the name with the class whose bases may have it, or as a class of the package."""
        root, rest = chain[0], chain[1:]
        if rest and not root[:1].isupper() and (dotted := self.qualified.name(chain, self.line(at))):
            return "", dotted, chain[dotted.count(".") + 1 :]
        based = next((each for each in scope.outward() if each.kind == "class" and each.based), None)
        if root == "?" or (based is None and not self._stars and not root[:1].isupper()):
            return None
        return based.qual if based else "", root, rest
