"""Which picture to show: the nearest level that can still be looked at, or what was asked for."""

from controller.graph.asking.lifted import Level, Picture, picture
from controller.graph.asking.meaning import Asked
from packets.errors import UsageError

_UNBOUNDED = 1 << 60


def zoom(
    asked: Asked,
    level: str,
    *,
    focus: str = "",
    within: int = 1,
    third_party: bool = False,
    most: int | None = None,
    drawn: bool = False,
) -> Picture:
    """Return a picture of at most `most` nodes; raises UsageError for a level that has more, or is none.

    A drawing leaves out what would only stand beside it. Without a level it is the nearest that fits; at the module
    level folders are taken together until they fit.
    """
    if level and level not in list(Level):
        raise UsageError(f"{level!r} is no level", f"one of: {', '.join(Level)}")
    ids = asked.meant(focus) if focus else None
    bound = _UNBOUNDED if most is None else most
    for each in [Level(level)] if level else [Level.SYMBOL, Level.FILE, Level.MODULE]:
        shown = picture(asked.graph, each, asked.territory, third_party=third_party, most=min(bound, 40))
        shown = shown.drawn() if drawn else shown
        if ids is not None:
            shown = shown.around(_units(asked, shown, ids), within)
        if len(shown.units) <= bound:
            return shown
    raise UsageError(
        f"that are {len(shown.units)} nodes at the {shown.level} level; more than {most} cannot be looked at",
        "take a coarser --level, a --focus NAME, or allow more with --most N",
    )


def _units(asked: Asked, shown: Picture, ids: frozenset[str]) -> set[str]:
    """Return the units of a picture that a name falls into."""
    if shown.level is Level.SYMBOL:
        return set(ids)
    paths = {asked.graph.path_of(node) for node in ids}
    if shown.level is Level.FILE:
        return paths
    homes = {unit for unit in shown.units if not unit.startswith("ext:")}
    owned = {path: asked.territory.owners(path) for path in paths}
    named = {owners[-1] for owners in owned.values() if owners}
    beneath = {home for home in homes for path, owners in owned.items() if not owners and path.startswith(home)}
    longest = {
        max((h for h in beneath if path.startswith(h)), key=len, default="./") for path, o in owned.items() if not o
    }
    return named | longest
