"""What a Cargo.toml says of its package, its targets, its dependencies and its workspace."""

import json
import tomllib
from typing import Any, NamedTuple

from controller.graph.facts import NOTHING, FileFacts

_MOST = 1 << 20
_SECTIONS = ("dependencies", "dev-dependencies", "build-dependencies")
_TARGETS = ("bin", "example", "test", "bench")


class Dependency(NamedTuple):
    """`package` is empty where it is called as in the manifest; `path` is a folder; both may be the workspace's."""

    package: str = ""
    path: str = ""
    workspace: bool = False


class Manifest(NamedTuple):
    """One Cargo.toml; `name` is empty for a workspace without a package. `roots` are targets' files as written."""

    name: str = ""
    edition: str = "2015"
    library: str = ""
    library_path: str = ""
    roots: tuple[str, ...] = ()
    dependencies: dict[str, Dependency] = {}  # noqa: RUF012 - never changed
    shared: dict[str, Dependency] | None = None
    shared_edition: str = ""
    patched: dict[str, str] = {}  # noqa: RUF012 - never changed


def read(blob: bytes) -> FileFacts:
    """Return the manifest as one setting; nothing for what is no TOML."""
    if len(blob) > _MOST:
        return NOTHING
    try:
        said = tomllib.loads(blob.decode("utf-8", "replace"))
    except (tomllib.TOMLDecodeError, RecursionError, ValueError):
        return NOTHING
    return FileFacts(settings=(("manifest", json.dumps(_manifest(said), separators=(",", ":"))),))


def parsed(setting: str) -> Manifest:
    """Return what `read` wrote."""
    fields = json.loads(setting)
    dependencies = {name: Dependency(*each) for name, each in fields[5].items()}
    shared = None if fields[6] is None else {name: Dependency(*each) for name, each in fields[6].items()}
    name, edition, library, library_path = fields[:4]
    return Manifest(name, edition, library, library_path, tuple(fields[4]), dependencies, shared, fields[7], fields[8])


def _manifest(said: dict[str, Any]) -> Manifest:
    package, library, workspace = (_table(said.get(key)) for key in ("package", "lib", "workspace"))
    edition = package.get("edition", "2015")
    roots = [_text(each.get("path")) for kind in _TARGETS for each in _list(said.get(kind)) if isinstance(each, dict)]
    roots.append(_text(package.get("build")))
    patches = [_dependencies(each) for each in _table(said.get("patch")).values()]
    return Manifest(
        _text(package.get("name")),
        edition if isinstance(edition, str) else "",
        _text(library.get("name")),
        _text(library.get("path")),
        tuple(root for root in roots if root),
        _all_dependencies(said),
        _dependencies(workspace.get("dependencies")) if workspace or "workspace" in said else None,
        _text(_table(workspace.get("package")).get("edition")),
        {each.package or name: each.path for found in patches for name, each in found.items() if each.path},
    )


def _all_dependencies(said: dict[str, Any]) -> dict[str, Dependency]:
    found: dict[str, Dependency] = {}
    for table in (said, *map(_table, _table(said.get("target")).values())):
        for section in _SECTIONS:
            for key in (section, section.replace("-", "_")):
                found |= _dependencies(table.get(key))
    return found


def _dependencies(table: object) -> dict[str, Dependency]:
    found = {}
    for name, said in _table(table).items():
        entry = _table(said)
        shared = entry.get("workspace") is True
        found[name] = Dependency(_text(entry.get("package")), _text(entry.get("path")), shared)
    return found


def _table(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
