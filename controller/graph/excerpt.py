"""What one worker should know of the code around its module: what it stands on or will need, and who stands on it."""

from collections.abc import Iterator

from controller.blocks import block
from controller.graph.excerpts.fit import Fit
from controller.graph.excerpts.lines import cut
from controller.graph.excerpts.named import Named
from controller.graph.excerpts.near import Near
from controller.graph.excerpts.rank import Rank, is_public, is_test
from controller.graph.excerpts.shown import Shown
from controller.graph.excerpts.sources import Sources
from controller.graph.excerpts.tokens import tokens
from controller.graph.names import Names
from packets.graph import Node, NodeKind
from packets.packet import Dependent, GraphExcerpt
from packets.plan import Module

__all__ = ["excerpt", "is_test", "measure"]

_NAMES = 40
_FOR_NAMES = 0.08
_FOR_DEPENDENTS = 0.15
_FOR_OTHERS = 0.4
_FOR_DECLARED = 0.5
_FOR_USED = 0.75
_FOR_MORE = 0.15
"""Shares of the budget: of names, of dependents; what named symbols, declared modules, what is used and rows leave."""


def excerpt(names: Names, sources: Sources, module: Module, budget: int) -> GraphExcerpt:
    """Return the neighbourhood of a module within so many tokens, as its packet is written; the nearest first."""
    return _Excerpt(names, sources, module, budget).made()


def measure(made: GraphExcerpt) -> int:
    """Return how many tokens an excerpt is, as a packet writes it."""
    return tokens(block({"execution_packet": {"graph_excerpt": made.model_dump(mode="json")}}))


class _Excerpt:
    """One module's excerpt on its way."""

    def __init__(self, names: Names, sources: Sources, module: Module, budget: int) -> None:
        self.graph, self.sources, self.module, self.budget = names.graph, sources, module, budget
        scope = names.territory.scopes[module.id]
        ours = names.territory.files(module.id, self.graph.by_path)
        folders = {path.rpartition("/")[0] for path in (*ours, *scope.entries)}
        self.named = Named(names, module)
        named = (*self.named.paths, *(self.graph.path_of(each) for each in self.named.symbols))
        self.near = Near(self.graph, ours, folders, named)
        self.rank = Rank(self.graph, self.near, self.named)

    def made(self) -> GraphExcerpt:
        """Fill the budget in order of nearness."""
        ranked = self.rank.candidates()
        used = self._used()
        depends_on = self._names(used)
        dependents = tuple(self._dependents(self.budget * _FOR_DEPENDENTS))
        frame = measure(GraphExcerpt(depends_on=depends_on, dependents=dependents))
        fit = Fit(self.graph, Shown(self.graph, self.sources), self.budget - frame)
        explicit = self._explicit()
        fit.entries(explicit, fit.left * _FOR_OTHERS)
        fit.rows(explicit)
        free = fit.left
        declared = [node for node in ranked if node.path in self.named.paths and is_public(node)]
        fit.entries((node for node in declared if "." not in node.name), free * (1 - _FOR_DECLARED / 2))
        fit.rows(declared, free * (1 - _FOR_DECLARED))
        fit.entries(used, fit.left * _FOR_USED)
        fit.rows(ranked, fit.left * _FOR_MORE)
        fit.names(ranked)
        return _held(GraphExcerpt(depends_on=depends_on, surface=fit.surface(), dependents=dependents), self.budget)

    def _explicit(self) -> list[Node]:
        nodes = [self.graph.nodes[each] for each in self.named.symbols]
        return [node for node in nodes if node.path not in self.near.ours]

    def _used(self) -> list[Node]:
        """Return what the module's files use now, the most used first; of a member its class."""
        counted: dict[str, int] = {}
        for target, times in self.near.used.items():
            node = self.graph.nodes[target]
            if node.kind is not NodeKind.FILE:
                outer = f"{node.path}::{node.name.partition('.')[0]}"
                counted[outer] = counted.get(outer, 0) + times
        nodes = [self.graph.nodes[each] for each in counted if each in self.graph.nodes]
        return sorted(nodes, key=lambda node: (-counted[node.id], node.path, node.line, node.id))

    def _names(self, used: list[Node]) -> tuple[str, ...]:
        names = tuple(dict.fromkeys([*self.module.depends_on, *(node.name for node in used)]))
        left, kept = self.budget * _FOR_NAMES, 0
        for name in names[: max(_NAMES, len(self.module.depends_on))]:
            left -= 2 + tokens(name)
            kept += left >= 0
        return names[: max(kept, len(self.module.depends_on))]

    def _dependents(self, budget: float) -> Iterator[Dependent]:
        """Yield who uses the module, each once: symbols of sources, of tests, then files that only import it."""
        lines: dict[str, int] = {}
        for edges in self.near.users.values():
            for edge in edges:
                lines[edge.source] = min(edge.line, lines.get(edge.source, edge.line))
        path_of = self.graph.path_of
        named = {path_of(source) for source in lines if "::" in source}
        for source in sorted(lines, key=lambda s: ("::" not in s, is_test(path_of(s)), path_of(s), lines[s], s)):
            path = path_of(source)
            if "::" in source or source not in named:
                found = Dependent(
                    symbol=self.graph.nodes[source].name,
                    at=f"{path}:{lines[source]}",
                    code=cut(self.sources.line(path, lines[source])),
                )
                budget -= 14 + tokens(found.symbol) + tokens(found.at) + tokens(found.code)
                if budget < 0:
                    return
                yield found


def _held(made: GraphExcerpt, budget: int) -> GraphExcerpt:
    """Take from the end what is over: the sum of parts is not quite the whole."""
    while (over := measure(made) - budget) > 0 and (made.surface or made.dependents or made.depends_on):
        made = _shorter(made, over)
    return made


def _shorter(made: GraphExcerpt, over: int) -> GraphExcerpt:
    surface = list(made.surface)
    while surface and over > 0:
        last = surface.pop()
        lines = last.lines.split("\n")
        while lines and over > 0:
            over -= 2 + tokens(lines.pop())
        if lines:
            surface.append(last.model_copy(update={"lines": "\n".join(lines)}))
    if surface or made.surface:
        return made.model_copy(update={"surface": tuple(surface)})
    if made.dependents:
        return made.model_copy(update={"dependents": made.dependents[:-1]})
    return made.model_copy(update={"depends_on": made.depends_on[:-1]})
