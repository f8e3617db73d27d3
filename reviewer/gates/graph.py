"""The graph between base and result is what the plan expects, and nothing undeclared came with it."""

from collections.abc import Iterable, Mapping
from typing import ClassVar

from packets.graph import PackageUse, SignatureChange, SurfaceUse, UndeclaredUse
from packets.verdict import Finding
from reviewer.case import Case
from reviewer.evidence import Evidence
from reviewer.findings import error, note

_SHOWN = 5


class GraphGate:
    """Reads the report that the controller's graph gives; claims are judged elsewhere."""

    name = "graph"
    costly = False
    codes: ClassVar[Mapping[str, str]] = {
        "graph.unmet": "an edge or node that the plan expects to be added or removed was not",
        "graph.undeclared_edge": "the module came to depend on another module that its plan entry does not name",
        "graph.surface_in_use": "a public name was removed while code outside the module still uses it",
        "graph.signature_changed": "a function that code outside the module calls takes other arguments than before",
        "graph.new_third_party": "the first import of a third-party package; an error where no manifest names it",
        "graph.note": "something about the graph that rejects nothing, such as a call matched by name alone",
    }

    def judge(self, case: Case, evidence: Evidence) -> Iterable[Finding]:
        """Give unmet expectations, undeclared edges, removed surface, changed calls, new packages, notes."""
        del case
        report = evidence.graph
        for wanted in report.expected:
            if not wanted.met:
                reason = wanted.reason or "the trees do not show it"
                yield error("graph.unmet", f"`{wanted.text}`: {reason}", evidence="\n".join(wanted.evidence))
        yield from map(_undeclared, report.undeclared)
        yield from map(_surface, report.surface_in_use)
        yield from map(_signature, report.signatures)
        yield from map(_package, report.packages)
        for text in report.notes:
            yield note("graph.note", text)


def _undeclared(use: UndeclaredUse) -> Finding:
    line = f"depends_on: [{', '.join(use.depends_on)}]"
    wrong = f"{use.target_module} waits for this module, so the plan is wrong"
    allowed = f"or let the plan's entry say `{line}`" if use.depends_on else wrong
    return error(
        "graph.undeclared_edge",
        f"{use.source} now depends on {use.target} of {use.target_module}",
        path=use.path,
        line=use.line,
        evidence=f"{use.source} -> {use.target}",
        hint=f"if it is needed, stop with status blocked; {allowed}",
    )


def _surface(gone: SurfaceUse) -> Finding:
    now = f" (it is {gone.now} now)" if gone.now else ""
    return error(
        "graph.surface_in_use",
        f"{gone.symbol} was removed{now}, but is still used at {_some(gone.users)}",
        evidence="\n".join(gone.users),
        hint="keep the old name, such as by an import of the new one" if gone.now else "",
    )


def _signature(change: SignatureChange) -> Finding:
    return note(
        "graph.signature_changed",
        f"{change.symbol} {change.why}, and is called at {_some(change.users)}",
        path=change.path,
        line=change.line,
        evidence="\n".join((f"- {change.before}", f"+ {change.after}", *change.users)),
    )


def _package(use: PackageUse) -> Finding:
    told = f"{use.package} is imported here for the first time in this repository"
    if use.manifests:
        where = " nor ".join(use.manifests[:_SHOWN]) if len(use.manifests) > 1 else use.manifests[0]
        said = f"; neither {where} names it" if len(use.manifests) > 1 else f"; {where} does not name it"
        hint = f"name it in {use.manifests[0]}, or expect it in the plan: `{use.path} -> {use.package}`"
        return error("graph.new_third_party", told + said, path=use.path, line=use.line, hint=hint)
    said = f"; {use.listed_in} names it" if use.listed_in else ""
    return note("graph.new_third_party", told + said, path=use.path, line=use.line)


def _some(places: Iterable[str]) -> str:
    listed = list(places)
    more = f" and {len(listed) - _SHOWN} more places" if len(listed) > _SHOWN else ""
    return ", ".join(listed[:_SHOWN]) + more
