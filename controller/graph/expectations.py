"""Lines such as `A -> B` held against two trees: met or not, why, and where it shows."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from controller.graph.link import Linker
from controller.graph.model import Graph
from controller.graph.names import Ambiguous, Found, Meaning, NameKind, Names, Unknown
from controller.graph.nearest import meant, unclear
from controller.graph.territory import Territory
from packets.deltas import GraphExpectation, GraphVerb, parse_graph
from packets.graph import Edge, EdgeKind, Expectation
from packets.problem import NameProblem
from packets.scope import Scope

_SHOWN = 5
_Judged = tuple[bool, str, Sequence[str]]


@dataclass(frozen=True)
class Trees:
    """Base and head of one module, with the names of both."""

    base: Names
    head: Names
    scope: Scope

    def in_head(self, name: str) -> Meaning:
        """Resolve in the head; what the base made unique stays unique, then what the module itself wrote wins."""
        meaning = self.head.resolve(name)
        if not isinstance(meaning, Ambiguous):
            return meaning
        before = self.base.resolve(name)
        if isinstance(before, Found):
            same = [each for each in meaning.candidates if each in before.ids]
        else:
            same = [each for each in meaning.candidates if self.scope.matches(self.head.graph.path_of(each))]
        if len(same) == 1:
            return Found(frozenset(self.head.graph.inside(same[0])))
        return meaning

    def ids(self, wanted: GraphExpectation, name: str) -> frozenset[str]:
        """Return the nodes that a name of an expectation stands for, in the tree in which it must be; nothing else."""
        removed = wanted.verb in (GraphVerb.EDGE_REMOVED, GraphVerb.NODE_REMOVED)
        meaning = (self.base.resolve(name) if removed else self.in_head(name)) if name else Unknown(NameKind.BARE)
        return meaning.ids if isinstance(meaning, Found) else frozenset()

    def judge(self, wanted: GraphExpectation) -> Expectation:
        """Say whether the two trees show it."""
        judges: dict[GraphVerb, Callable[[GraphExpectation], _Judged]] = {
            GraphVerb.EDGE_ADDED: self._edge_added,
            GraphVerb.EDGE_REMOVED: self._edge_removed,
            GraphVerb.NODE_ADDED: self._node_added,
            GraphVerb.NODE_REMOVED: self._node_removed,
        }
        met, reason, evidence = judges[wanted.verb](wanted)
        return Expectation(text=wanted.text, met=met, reason=reason, evidence=tuple(evidence[:_SHOWN]))

    def _edge_added(self, wanted: GraphExpectation) -> _Judged:
        source, target = self.in_head(wanted.source), self.in_head(wanted.target)
        if reason := unclear(self.head, wanted.source, source) or unclear(self.head, wanted.target, target):
            return False, reason, ()
        old = _edges(self.base.graph, self.base.resolve(wanted.source), self.base.resolve(wanted.target))
        new = _edges(self.head.graph, source, target)
        if old:
            return False, "the base has this dependency already: nothing was added", _places(self.base.graph, old)
        if new:
            return True, "", _places(self.head.graph, new)
        guessed = _edges(self.head.graph, source, target, resolved=False)
        if guessed and (imports := self._imports(source, target)):
            reason = "the file imports it, and a call matches by name"
            return True, reason, _places(self.head.graph, [*imports, *guessed])
        if guessed:
            return False, "only a call by this name was found, with no import", _places(self.head.graph, guessed)
        return False, f"nothing inside {wanted.source} uses anything inside {wanted.target}", ()

    def _imports(self, source: Meaning, target: Meaning) -> list[Edge]:
        """Return what the files of the source import of the target."""
        graph = self.head.graph
        files = {graph.path_of(each) for each in source.ids} if isinstance(source, Found) else set()
        found = [edge for path in sorted(files) for edge in graph.outgoing.get(path, ()) if edge.kind == "imports"]
        return [edge for edge in found if isinstance(target, Found) and edge.target in target.ids]

    def _edge_removed(self, wanted: GraphExpectation) -> _Judged:
        before = self.base.resolve(wanted.source), self.base.resolve(wanted.target)
        named = zip((wanted.source, wanted.target), before, strict=True)
        if reason := next((why for each in named if (why := unclear(self.base, *each, "base"))), ""):
            return False, reason, ()
        old = _edges(self.base.graph, *before)
        new = _edges(self.head.graph, self.in_head(wanted.source), self.in_head(wanted.target))
        if new:
            return False, "the dependency is still there", _places(self.head.graph, new)
        if not old:
            return False, "the base has no such dependency: nothing was removed", ()
        return True, "", _places(self.base.graph, old)

    def _node_added(self, wanted: GraphExpectation) -> _Judged:
        after, before = self.in_head(wanted.source), self.base.resolve(wanted.source)
        if isinstance(before, Found):
            return False, "it is on the base already: nothing was added", _nodes(self.base.graph, before)
        if not isinstance(after, Found):
            return False, unclear(self.head, wanted.source, after), ()
        return True, "", _nodes(self.head.graph, after)

    def _node_removed(self, wanted: GraphExpectation) -> _Judged:
        before, after = self.base.resolve(wanted.source), self.in_head(wanted.source)
        if not isinstance(before, Found):
            return False, unclear(self.base, wanted.source, before, "base"), ()
        if isinstance(after, Found):
            return False, "it is still there", _nodes(self.head.graph, after)
        return True, "", _nodes(self.base.graph, before)


def _edges(graph: Graph, source: Meaning, target: Meaning, *, resolved: bool = True) -> list[Edge]:
    if not isinstance(source, Found) or not isinstance(target, Found):
        return []
    if len(source.ids) <= len(target.ids):
        near = (edge for each in source.ids for edge in graph.outgoing.get(each, ()) if edge.target in target.ids)
    else:
        near = (edge for each in target.ids for edge in graph.incoming.get(each, ()) if edge.source in source.ids)
    return sorted(edge for edge in near if edge.resolved == resolved and edge.kind is not EdgeKind.DEFINES)


def _places(graph: Graph, edges: Sequence[Edge]) -> list[str]:
    return [f"{graph.path_of(e.source)}:{e.line} {e.source} {e.kind} {e.target}" for e in edges[:_SHOWN]]


def _nodes(graph: Graph, found: Found) -> list[str]:
    nodes = sorted((graph.nodes[each] for each in found.ids), key=lambda n: (n.path, n.line, n.id))
    return [f"{node.path}:{node.line} {node.signature or node.id}" for node in nodes[:_SHOWN]]


class _Check:
    """Looks at the names of one module's expectations before anything runs."""

    def __init__(self, names: Names, module_id: str) -> None:
        self.names, self.module_id = names, module_id
        territory = names.territory
        self.before = [territory.planned[name] for name in territory.before(module_id)]
        self.own = [*self.before, territory.planned[module_id]]
        self.born = _born(territory)

    def problem(self, name: str, *, on_base: bool) -> tuple[str, str, bool]:
        """Return (message, hint, whether it refuses the plan); a name that is clear, or still to come, has no message.

        A bare name, or a place that the plan may still fill, is to come; one that is to be there before the module
        begins (`on_base`), or is a likely slip, is said.
        """
        meaning = self.names.resolve(name)
        if isinstance(meaning, Found):
            return "", "", False
        if isinstance(meaning, Ambiguous):
            return unclear(self.names, name, meaning), "", True
        if meaning.kind is NameKind.BARE or self._to_come(name, meaning):
            return self._to_be_born(name, meaning, on_base=on_base)
        near = meant(self.names, name, meaning.kind)
        if meaning.kind is NameKind.MODULE:
            return f"the module {name} has no file, and this plan does not come to it before{near}", "", True
        where = "it is in no write scope of this module or of those before it"
        return f"no {meaning.kind} {name}, and {where}{near}", "", True

    def undeclared(self, wanted: GraphExpectation) -> str:
        """Return the module that an expected edge leads to, where the plan entry does not declare it; else nothing."""
        source, target = self.names.resolve(wanted.source), self.names.resolve(wanted.target)
        territory, graph = self.names.territory, self.names.graph
        elsewhere = isinstance(source, Found) and not any(self.own[-1].matches(graph.path_of(s)) for s in source.ids)
        if elsewhere or not isinstance(target, Found):
            return ""
        owners = [territory.owners(path) for path in {graph.path_of(each) for each in target.ids} if path]
        allowed = {self.module_id, *territory.declared(self.module_id)}
        if not owners or any(not each or allowed.intersection(each) for each in owners):
            return ""
        return min(each[-1] for each in owners)

    def _to_be_born(self, name: str, meaning: Unknown, *, on_base: bool) -> tuple[str, str, bool]:
        slip = meaning.kind is NameKind.BARE and name not in self.born
        near = meant(self.names, name, meaning.kind) if slip else ""
        if on_base and not self.before:
            return f"no {meaning.kind} {name} on the base: there is nothing to remove{near}", "", False
        if near:
            return f"no {meaning.kind} {name} yet{near}", "right as it stands if this plan brings it", False
        return "", "", False

    def _to_come(self, name: str, meaning: Unknown) -> bool:
        if meaning.kind is NameKind.MODULE:
            scope = self.names.territory.scopes[name]
            return any(scope is each for each in self.own)
        if meaning.kind is NameKind.PATH and name.endswith("/"):
            return any(folder.startswith(name) for each in self.own for folder in self._literal(each))
        return any(each.matches(place) for place in meaning.places for each in self.own)

    @staticmethod
    def _literal(scope: Scope) -> list[str]:
        return [entry.rpartition("/")[0] + "/" for entry in scope.entries]


def _born(territory: Territory) -> frozenset[str]:
    """Return the names that some module of the plan is to add, as written."""
    lines = (line for module in territory.plan.modules() for line in module.expected_deltas.graph)
    return frozenset(words[1] for line in lines if len(words := line.split()) > 1 and words[0] == "add")


_REMOVES = (GraphVerb.EDGE_REMOVED, GraphVerb.NODE_REMOVED)


def name_problems(graph: Graph, linker: Linker, territory: Territory) -> list[NameProblem]:
    """Return what is wrong with the names in the plan's graph expectations, in plan order."""
    names = Names(graph, linker, territory)
    problems = []
    for module in territory.plan.modules():
        check = _Check(names, module.id)
        for index, text in enumerate(module.expected_deltas.graph):
            try:
                wanted = parse_graph(text)
            except ValueError:
                continue  # the plan's own check has named it
            for name in filter(None, (wanted.source, wanted.target)):
                message, hint, refuses = check.problem(name, on_base=wanted.verb in _REMOVES)
                if message:
                    said = NameProblem(module.id, index, message, hint)
                    problems.append(said if refuses else said._replace(severity="warning"))
            if wanted.verb is GraphVerb.EDGE_ADDED and (owner := check.undeclared(wanted)):
                message = f"{wanted.target} is of {owner}, which {module.id} does not declare: a review refuses that"
                hint = f"add {owner} to depends_on"
                problems.append(NameProblem(module.id, index, message, hint, "warning", undeclared=True))
    return problems
