"""What package.json, tsconfig.json and pnpm-workspace.yaml say of where modules are, as facts keep it: text by key.

What is a tree in the file is JSON in the setting. Comments and trailing commas are allowed; what cannot be read says
nothing.
"""

import json
import re
from collections.abc import Mapping
from typing import Any

Settings = tuple[tuple[str, str], ...]

_LOCAL = ("file:", "link:", "portal:")
_MOST = 2_000
"""Entries of one map that are kept; a longer one was written by a program."""

_JSON = re.compile(
    r'"(?:[^"\\\n]|\\.)*+"|//[^\n]*|/\*(?:[^*]|\*(?!/))*+\*/|,(?=(?:\s|//[^\n]*\n|/\*(?:[^*]|\*(?!/))*+\*/)*+[}\]])'
)
_PACKAGES = re.compile(r"^packages:[ \t]*(\[[^\]]*\])?[ \t]*(?:#.*)?$((?:\n[ \t]*(?:-.*|#.*)?)*)", re.MULTILINE)
_ENTRY = re.compile(
    r"""(?:^[ \t]*-[ \t]*|[\[,]\s*)(?:"([^"\n]*)"|'([^'\n]*)'|([^\s"'#,\]\[-][^\s#,\]]*))""", re.MULTILINE
)


def read_settings(kind: str, blob: bytes) -> Settings:
    """Read one file of settings."""
    text = blob.decode("utf-8-sig", "replace")
    if kind == "pnpm-workspace":
        return (("workspaces", json.dumps(_pnpm(text))),)
    found = _object(text)
    return _package(found) if kind == "package-json" else _tsconfig(found)


def _object(text: str) -> Mapping[str, Any]:
    try:
        found = json.loads(_JSON.sub(lambda match: match[0] if match[0][0] == '"' else "", text))
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _package(found: Mapping[str, Any]) -> Settings:
    plain = {key: found[key] for key in ("name", "main", "module", "source", "types", "typings") if key in found}
    workspaces = found.get("workspaces")
    if isinstance(workspaces, dict):
        workspaces = workspaces.get("packages")
    local = {
        name: wanted.partition(":")[2]
        for group in ("dependencies", "devDependencies", "peerDependencies", "optionalDependencies")
        for name, wanted in _map(found, group).items()
        if isinstance(wanted, str) and wanted.startswith(_LOCAL)
    }
    trees = {"workspaces": workspaces, "exports": found.get("exports"), "imports": found.get("imports"), "local": local}
    return _settings(plain, trees)


def _tsconfig(found: Mapping[str, Any]) -> Settings:
    options = _map(found, "compilerOptions")
    plain = {key: options[key] for key in ("baseUrl", "rootDir", "outDir") if key in options}
    extends = found.get("extends")
    trees = {"paths": options.get("paths"), "extends": [extends] if isinstance(extends, str) else extends}
    return _settings(plain, trees)


def _settings(plain: Mapping[str, Any], trees: Mapping[str, Any]) -> Settings:
    said = {key: value for key, value in plain.items() if isinstance(value, str) and value}
    for key, tree in trees.items():
        if isinstance(tree, (dict, list, str)) and tree and len(tree) <= _MOST:
            said[key] = json.dumps(tree, ensure_ascii=False)
    return tuple(sorted(said.items()))


def _map(found: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    value = found.get(key)
    return value if isinstance(value, dict) else {}


def _pnpm(text: str) -> list[str]:
    """Read the one list that matters; a YAML reader would follow anchors, tags and depths that nobody needs here."""
    found = _PACKAGES.search(text)
    return [a or b or c for a, b, c in _ENTRY.findall((found[1] or "") + (found[2] or ""))][:_MOST] if found else []
