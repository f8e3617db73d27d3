"""The graph between base and result is what the plan expects, and nothing undeclared came with it."""

from collections.abc import Iterable, Mapping
from typing import ClassVar

from packets.verdict import Finding
from reviewer.case import Case
from reviewer.evidence import Evidence
from reviewer.findings import error, note


class GraphGate:
    """Reads the report that the controller's graph gives; claims are judged elsewhere."""

    name = "graph"
    costly = False
    codes: ClassVar[Mapping[str, str]] = {
        "graph.unmet": "an edge or node that the plan expects to be added or removed was not",
        "graph.undeclared_edge": "the module came to depend on another module that its plan entry does not name",
        "graph.surface_in_use": "a public name was removed while code outside the module still uses it",
        "graph.note": "something about the graph that rejects nothing, such as a call matched by name alone",
    }

    def judge(self, case: Case, evidence: Evidence) -> Iterable[Finding]:
        """Give unmet expectations, undeclared edges, removed surface, notes."""
        del case
        report = evidence.graph
        for wanted in report.expected:
            if not wanted.met:
                reason = wanted.reason or "the trees do not show it"
                yield error("graph.unmet", f"`{wanted.text}`: {reason}", evidence="\n".join(wanted.evidence))
        for use in report.undeclared:
            yield error(
                "graph.undeclared_edge",
                f"{use.source} now depends on {use.target} of {use.target_module}",
                path=use.path,
                line=use.line,
                evidence=f"{use.source} -> {use.target}",
                hint=f"stop with status blocked if it is needed, or add {use.target_module} to depends_on in the plan",
            )
        for gone in report.surface_in_use:
            yield error(
                "graph.surface_in_use",
                f"{gone.symbol} was removed, but is still used at {', '.join(gone.users[:5])}",
                evidence="\n".join(gone.users),
            )
        for text in report.notes:
            yield note("graph.note", text)
