"""How names of C and C++ that nothing in their file binds are asked for in the headers that it includes."""

from controller.graph.languages.typed import Chain, References, Scope, Sweep, Target


class CReferences(References):
    """In C names have no scope but the file; in C++ they are looked up from their class or namespace outward."""

    def __init__(self, sweep: Sweep, source: bytes, aliases: dict[str, Chain], *, cpp: bool) -> None:
        super().__init__(sweep, source)
        self._aliases = aliases
        self._cpp = cpp

    def unbound(self, scope: Scope, chain: Chain, at: int) -> Target | None:
        """Return the name with the class or namespace around it."""
        del at
        if chain[0] in self._aliases:
            chain = (*self._aliases[chain[0]], *chain[1:])
        if chain[0] in ("std", "?"):
            return None
        return self._seen_from(scope) if self._cpp else "", chain[0], chain[1:]

    @staticmethod
    def _seen_from(scope: Scope) -> str:
        for at in scope.outward():
            if at.kind in ("class", "namespace") and at.name:
                return at.qual
            if at.kind == "function" and "." in at.name:
                return at.qual.rpartition(".")[0]
        return ""
