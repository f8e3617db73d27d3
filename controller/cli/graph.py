"""`grace graph stats|show|query|path|export|diff`: the knowledge graph of any commit, without a checkout."""

import json
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from controller.graph import Knowledge
    from controller.graph.asking.lifted import Picture
    from controller.graph.asking.meaning import Asked
    from controller.graph.asking.query import Row
    from packets.graph import Edge, Node
    from packets.plan import Plan
    from sandbox.git import Git

app = typer.Typer(help="Ask the knowledge graph of any commit.", no_args_is_help=True)

At = Annotated[str, typer.Option("--at", metavar="REV", help="The commit, branch or tree to look at.")]
PlanFile = Annotated[Path | None, typer.Option("--plan", help="A plan whose module ids may be used as names.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON, as docs/json.md describes it.")]
_LISTED = 200
"""Lines of text; JSON has all."""


@app.command()
def stats(at: At = "HEAD", as_json: Json = False) -> None:
    """Count files, symbols and edges, and name what is used from most files."""
    from controller.graph.asking.stats import stats as counted
    from controller.graph.asking.stats import text

    with _asked(at, None) as asked:
        found = counted(asked)
        _write(_json(found) if as_json else text(found))


@app.command()
def show(
    name: Annotated[str, typer.Argument(help="A path, a module id, or a dotted or bare symbol.")],
    at: At = "HEAD",
    plan: PlanFile = None,
    as_json: Json = False,
) -> None:
    """Show what a name stands for: what it defines, what it needs, who needs it."""
    with _asked(at, plan) as asked:
        ids = asked.meant(name)
        nodes = sorted((asked.graph.nodes[each] for each in ids), key=lambda node: (node.path, node.line, node.id))
        needs = _edges(asked, ids, outgoing=True)
        needed = _edges(asked, ids, outgoing=False)
        if as_json:
            found = {"nodes": _objects(nodes), "needs": _objects(needs), "needed_by": _objects(needed)}
            _write(_json({"name": name, "at": at, **found}))
            return
        _lines(f"{node.path}:{node.line} {_signed(node)}" for node in nodes)
        for title, edges in (("needs", needs), ("needed by", needed)):
            if edges:
                _write(f"{title}\n")
                _lines(f"  {_said(asked, edge)}" for edge in edges)


@app.command()
def query(
    question: Annotated[list[str], typer.Argument(help='Such as "dependents of Money within 2".')],
    at: At = "HEAD",
    plan: PlanFile = None,
    as_json: Json = False,
) -> None:
    """Answer `dependents|dependencies of X [within N|all]`, `uses of X`, `third-party [of X]`, `cycles [of X]`."""
    from controller.graph.asking.query import answer

    with _asked(at, plan) as asked:
        rows = answer(asked, " ".join(question))
        if as_json:
            _write(_json({"question": " ".join(question), "at": at, "rows": [row._asdict() for row in rows]}))
        elif rows:
            _lines(_row(row) for row in rows)
        else:
            _write("nothing\n")


@app.command()
def path(
    start: Annotated[str, typer.Argument(help="Where from.")],
    end: Annotated[str, typer.Argument(help="Where to.")],
    at: At = "HEAD",
    plan: PlanFile = None,
    as_json: Json = False,
) -> int:
    """Show a shortest way by which one thing comes to depend on another; exit 1 where there is none."""
    from controller.graph.asking.walk import shortest

    with _asked(at, plan) as asked:
        way = shortest(asked.graph, asked.meant(start), asked.meant(end))
        if as_json:
            _write(_json({"from": start, "to": end, "at": at, "path": None if way is None else _objects(way)}))
        elif way is None:
            _write(f"{start} does not depend on {end}\n")
        elif not way:
            _write(f"{start} and {end} have something in common\n")
        else:
            _lines(_said(asked, edge) for edge in way)
    return 0 if way is not None else 1


@app.command()
def export(
    form: Annotated[str, typer.Option("--format", help="json, dot, mermaid or graphml.")] = "json",
    level: Annotated[
        str, typer.Option(help="module, file or symbol; default: the nearest that can be looked at.")
    ] = "",
    focus: Annotated[str, typer.Option(help="Only this and what is near to it.")] = "",
    within: Annotated[int, typer.Option(min=0, help="How near, in arrows.")] = 1,
    third_party: Annotated[bool, typer.Option("--third-party", help="With third-party packages.")] = False,
    most: Annotated[int, typer.Option(min=1, help="Nodes that a drawing may have.")] = 300,
    at: At = "HEAD",
    plan: PlanFile = None,
) -> None:
    """Write a picture of the graph: modules first, then zoom in with --focus and --level."""
    from controller.graph.asking.export import DRAWN, FORMATS
    from controller.graph.asking.zoom import zoom
    from packets.errors import UsageError

    if form not in FORMATS:
        raise UsageError(f"{form!r} is no format of a graph", f"one of: {', '.join(FORMATS)}")
    bound = most if form in DRAWN or not level else None
    with _asked(at, plan) as asked:
        shown = zoom(asked, level, focus=focus, within=within, third_party=third_party, most=bound, drawn=form in DRAWN)
        _write(FORMATS[form](shown))
        if form in DRAWN:
            _tell(shown)


def _tell(shown: "Picture") -> None:
    sizes = f"{len(shown.units)} nodes, {len(shown.arrows)} arrows"
    sys.stderr.write(f"grace: {shown.level} level, {sizes}; nearer: --focus NAME, --level file|symbol\n")


@app.command()
def diff(
    between: Annotated[str, typer.Argument(metavar="A..B", help="Two commits, branches or trees.")],
    as_json: Json = False,
) -> None:
    """Say which symbols and dependencies came and went between two trees."""
    from packets.errors import UsageError

    old, dots, new = between.partition("..")
    if not dots or not old or not new.strip("."):
        raise UsageError(f"{between!r} names no two trees", "write A..B, such as main..HEAD")
    with _opened() as (git, knowledge):
        _, _, delta = knowledge.refresh(git.tree(old), git.tree(new.lstrip(".")))
        if as_json:
            _write(_json(delta.model_dump(mode="json")))
            return
        marks = (
            ("-", delta.nodes_removed),
            ("+", delta.nodes_added),
            ("-", delta.edges_removed),
            ("+", delta.edges_added),
        )
        _lines(f"{mark} {text}" for mark, texts in marks for text in texts)


@contextmanager
def _opened() -> "Iterator[tuple[Git, Knowledge]]":
    """Open the repository around the working directory and its graph."""
    from controller.graph.opened import knowledge
    from sandbox.git import Git

    with Git.discover(Path.cwd()) as git, knowledge(git) as graphs:
        yield git, graphs


@contextmanager
def _asked(at: str, plan: Path | None) -> "Iterator[Asked]":
    from controller.graph.asking.meaning import Asked

    with _opened() as (git, knowledge):
        yield Asked(knowledge, git.tree(at), at, _plan(plan))


def _plan(path: Path | None) -> "Plan | None":
    if path is None:
        return None
    from controller.plan.load import load_plan

    return load_plan(path).plan


def _edges(asked: "Asked", ids: Iterable[str], *, outgoing: bool) -> "list[Edge]":
    """Return the dependencies that cross the border of a thing."""
    inside = frozenset(ids)
    side = asked.graph.outgoing if outgoing else asked.graph.incoming
    found = {edge for node in inside for edge in side.get(node, ())}
    crossing = [edge for edge in found if (edge.target if outgoing else edge.source) not in inside]
    return sorted(edge for edge in crossing if edge.kind != "defines")


def _said(asked: "Asked", edge: "Edge") -> str:
    doubt = "" if edge.resolved else " (by its name alone)"
    return f"{asked.graph.path_of(edge.source)}:{edge.line} {edge.source} {edge.kind} {edge.target}{doubt}"


def _row(row: "Row") -> str:
    circle = f"circle {row.group} of {row.distance}: " if row.group else f"{row.distance} "
    return f"{circle}{row.at} {row.source} {row.kind} {row.target}"


def _signed(node: "Node") -> str:
    """Write what a node is: many signatures begin with its kind already."""
    said = node.signature or node.name
    return said if said.startswith(f"{node.kind} ") else f"{node.kind} {said}"


def _objects(values: "Iterable[Node | Edge]") -> list[dict[str, Any]]:
    return [value._asdict() for value in values]


def _json(value: dict[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=False) + "\n"


def _lines(lines: Iterable[str]) -> None:
    """Print lines, bounded; names in code are no terminal's business."""
    from reviewer.inert import inert

    count = 0
    for count, line in enumerate(lines, start=1):
        if count <= _LISTED:
            _write(f"{inert(line, limit=2000)}\n")
    if count > _LISTED:
        _write(f"… and {count - _LISTED} more: --json has them all\n")


def _write(text: str) -> None:
    sys.stdout.write(text)
