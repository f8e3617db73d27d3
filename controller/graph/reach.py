"""The files of a write scope among those of a tree, without asking about each one that cannot be meant."""

from collections.abc import Collection

from packets.scope import Scope


def within(scope: Scope, paths: Collection[str]) -> list[str]:
    """Return the paths that the scope matches, in their order; entries that are plain files are looked up."""
    plain = {each.start for each in scope.patterns if each.literal}
    starts = tuple(each.start for each in scope.patterns if not each.literal)
    if not starts:
        return sorted(path for path in plain if path in paths)
    return [path for path in paths if (path in plain or path.startswith(starts)) and scope.matches(path)]
