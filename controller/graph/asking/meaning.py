"""The nodes that a name in a question stands for, or a clear refusal."""

from controller.graph.knowledge import Knowledge
from controller.graph.model import Graph
from controller.graph.names import Ambiguous, Found, Names
from controller.graph.territory import Territory
from packets.errors import UsageError
from packets.plan import Plan

_SHOWN = 8


class Asked:
    """One tree that questions are asked about. `plan` gives names to modules; None: there are only paths and symbols.

    `at` is how the person called the tree.
    """

    def __init__(self, knowledge: Knowledge, tree: str, at: str, plan: Plan | None = None) -> None:
        self.graph: Graph = knowledge.graph(tree)
        self.at = at
        self.territory = Territory(plan or Plan.model_construct(version=1, name="none", phases=(), modules_map={}))
        self._names = Names(self.graph, knowledge.linker(tree), self.territory)

    def meant(self, name: str) -> frozenset[str]:
        """Return the nodes of a name with all that they define; raises UsageError for none or several."""
        match self._names.resolve(name):
            case Found(ids):
                return ids
            case Ambiguous(candidates):
                listed = ", ".join(candidates[:_SHOWN]) + (", …" if len(candidates) > _SHOWN else "")
                raise UsageError(f"{name} may mean {listed}", "write one of these in full")
            case _:
                raise UsageError(f"nothing is called {name} at {self.at}", self._near(name))

    def _near(self, name: str) -> str:
        from difflib import get_close_matches

        leaf = name.rpartition("/")[2].rpartition(".")[2]
        known = [*self.graph.by_leaf, *(path.rpartition("/")[2] for path in self.graph.by_path)]
        close = get_close_matches(leaf, known, n=3)
        return (
            f"near to it: {', '.join(close)}" if close else "a name is a path, a module id, or a dotted or bare symbol"
        )
