"""Members that are defined away from their class: Rust and C++ allow it in any file, Go in any of the package."""

from collections.abc import Mapping

from controller.graph.facts import FileFacts


def scattered(found: Mapping[str, FileFacts]) -> Mapping[str, tuple[str, ...]]:
    """Return the files that define a member of a class which they do not hold, by the member's name in its file."""
    homes: dict[str, list[str]] = {}
    for path, facts in found.items():
        held = {each.qual for each in facts.definitions}
        for each in facts.definitions:
            if each.kind == "method" and each.qual.rpartition(".")[0] not in held:
                homes.setdefault(each.qual, []).append(path)
    return {member: tuple(paths) for member, paths in homes.items()}
