"""A worker's workspace: what it sees at /repo and /grace, made from git by content, and told from a folder on our side.

grace/packet.yaml, packet.json, in/, out/     what lies at /grace; out/ alone is writable
git/                                          the private repository at /repo/.git
layers/N/                                     copies of the folders that may be written (see layers.py)
repo/                                         on engines without mounts: a full copy, .git in it
workspace.json                                what harvest needs to know; written last
"""

import json
import os
import shutil
import threading
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from packets.errors import Damaged, GraceError
from packets.packet import ExecutionPacket
from packets.scope import Scope
from sandbox.checkout import appearing, base_checkout, candidate, discard, write_files
from sandbox.effect import effect
from sandbox.git import Entry, Git
from sandbox.harvest import Harvest, harvest_layers
from sandbox.layers import Layer, Layout, lay_out, whole
from sandbox.protocol import GRACE, REPO, Mount, Sandbox

__all__ = ["Harvest", "Workspace", "base_checkout", "candidate", "discard", "harvest", "opened", "prepare"]

_WITHOUT_MOUNTS = frozenset({"host", "memory"})
_RECORD = "workspace.json"
_locks: defaultdict[str, threading.Lock] = defaultdict(threading.Lock)


@dataclass(frozen=True)
class Workspace:
    """`repo` is the full copy on engines without mounts, else None; `out` is what the worker sees at /grace/out."""

    folder: Path
    mounts: tuple[Mount, ...]
    base_tree: str
    layers: tuple[tuple[Path, Layer], ...]
    max_bytes: int

    @property
    def repo(self) -> Path | None:
        """The full copy of the tree, where the engine has no mounts."""
        repo = self.folder / "repo"
        return repo if repo.is_dir() else None

    @property
    def out(self) -> Path:
        """Where the worker's report lies."""
        return self.folder / "grace" / "out"


def prepare(
    git: Git,
    packet: ExecutionPacket,
    sandbox: Sandbox,
    folder: Path,
    *,
    yaml: str = "",
    files: Mapping[str, bytes] = {},
) -> Workspace:
    """Make the workspace of the packet at `folder`, or return the complete one that is there.

    `yaml` is the packet as text (JSON when empty, which is YAML too); `files` go to /grace/in. Raises GraceError when
    the folder holds another packet's workspace.
    """
    found = opened(folder)
    if found and all(mount.source.exists() for mount in found.mounts):
        return _same(found, packet)
    entries = git.entries(packet.base.tree)
    layout = (
        whole()
        if sandbox.name in _WITHOUT_MOUNTS
        else lay_out(entries, Scope.parse(packet.write_scope).write_folders())
    )
    if found:  # what is shared was removed; what the worker wrote is there
        _shared(git, packet, layout, sandbox.owner)
        return _same(found, packet)
    discard(folder)
    with effect("workspace.prepare"), appearing(folder) as fresh:
        _write_grace(fresh / "grace", packet, yaml, files, sandbox.owner)
        _write_layers(git, entries, layout, fresh, sandbox.owner)
        shared = _shared(git, packet, layout, sandbox.owner)
        spot = fresh / ("git" if shared else "repo/.git")
        _copy_repository(_template(git, packet), spot, sandbox.owner)
        _record(fresh, packet, layout, Path(os.path.relpath(shared, folder)) if shared else None)
    return _known(opened(folder), folder)


def opened(folder: Path) -> Workspace | None:
    """Return the complete workspace at `folder`, or None."""
    known = _recorded(folder)
    if known is None:
        return None
    layers = tuple(
        (folder / name, Layer(**{**about, "covered": frozenset(about["covered"])})) for name, about in known["layers"]
    )
    mounts = tuple(
        Mount(Path(os.path.normpath(folder / source)), target, writable) for source, target, writable in known["mounts"]
    )
    return Workspace(folder, mounts, known["base_tree"], layers, known["max_bytes"])


def harvest(git: Git, workspace: Workspace) -> Harvest:
    """Return the tree that the worker left; nothing may run in the workspace any more. Repeatable."""
    return harvest_layers(git, workspace.base_tree, workspace.layers, workspace.max_bytes)


def hand_in(workspace: Workspace, name: str, text: str) -> None:
    """Lay a file into /grace/in of a worker that may be running: whole, or not at all."""
    folder = workspace.folder / "grace" / "in"
    fresh = folder / f".{name}"
    fresh.write_text(text, encoding="utf-8")
    fresh.chmod(0o644)
    fresh.replace(folder / name)


def write_synced(path: Path, data: bytes) -> None:
    """Write a file that must be whole when it is there, also after a power loss."""
    fresh = path.with_name(f"{path.name}.new")
    with fresh.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    fresh.replace(path)


def _recorded(folder: Path) -> dict[str, Any] | None:
    """Return the record, or None without one; raises Damaged: what the worker wrote cannot be told from the base."""
    try:
        known: dict[str, Any] = json.loads((folder / _RECORD).read_bytes())
    except FileNotFoundError:
        return None
    except ValueError as fault:
        hint = f"keep what it holds, then: rm -r {folder}; grace resume makes it anew"
        raise Damaged(f"{folder / _RECORD} is damaged", hint) from fault
    return known


def packet_of(folder: Path) -> str:
    """Return the packet id that the workspace at `folder` was made for."""
    known = _recorded(folder) or {}
    return str(known.get("packet_id", ""))


def _known(found: Workspace | None, folder: Path) -> Workspace:
    if found is None:
        raise GraceError(f"the workspace {folder} vanished while it was made")
    return found


def _same(found: Workspace, packet: ExecutionPacket) -> Workspace:
    if packet_of(found.folder) != packet.packet_id:
        raise GraceError(f"{found.folder} holds the work of another packet", "harvest it before this attempt starts")
    return found


def _write_grace(
    folder: Path, packet: ExecutionPacket, yaml: str, files: Mapping[str, bytes], owner: int | None
) -> None:
    document = json.dumps({"execution_packet": packet.model_dump(mode="json")}, ensure_ascii=False, indent=1)
    _folder(folder, None)
    _folder(folder / "in", None)
    _folder(folder / "out", owner)
    named = {"packet.json": document.encode(), "packet.yaml": (yaml or document).encode()}
    for name, data in {**named, **{f"in/{name}": data for name, data in files.items()}}.items():
        (folder / name).write_bytes(data)
        (folder / name).chmod(0o644)


def _folder(folder: Path, owner: int | None) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    folder.chmod(0o755)
    if owner is not None:
        os.chown(folder, owner, owner)


def _write_layers(git: Git, entries: Mapping[str, Entry], layout: Layout, folder: Path, owner: int | None) -> None:
    for number, layer in enumerate(layout.layers):
        spot = folder / _layer_name(layout, number)
        _folder(spot.parent, None)
        _folder(spot, owner)
        mine = {path: entry for path, entry in entries.items() if layer.holds(path)}
        write_files(git, mine, spot, strip=layer.folder, owner=owner)
        for point in (*layer.covered, *layer.points):
            inside = point.removeprefix(f"{layer.folder}/") if layer.folder else point
            for end in (*(i for i, char in enumerate(inside) if char == "/"), len(inside)):
                _folder(spot / inside[:end], owner)


def _layer_name(layout: Layout, number: int) -> str:
    return f"layers/{number}" if _is_layered(layout) else "repo"


def _is_layered(layout: Layout) -> bool:
    return layout != whole()


def _shared(git: Git, packet: ExecutionPacket, layout: Layout, owner: int | None) -> Path | None:
    """Return the base that is bound under the layers; its mount points are made where no layer could hold them."""
    if not _is_layered(layout):
        return None
    base = base_checkout(git, git.roots, packet.base.tree)
    for point in layout.base_points:
        (base / point).mkdir(parents=True, exist_ok=True)
    if ".git" in layout.base_points and owner is not None:
        os.chown(base, owner, owner)  # the worker's git trusts only a folder of its own user
    return base


def _template(git: Git, packet: ExecutionPacket) -> Path:
    """Return the private repository of the base commit, made once and copied for each worker."""
    target = git.roots.templates / packet.base.commit
    with _locks[str(target)]:
        if not target.is_dir():
            base = base_checkout(git, git.roots, packet.base.tree)
            with appearing(target) as fresh:
                git.private_repository(packet.base.commit, base, fresh)
    os.utime(target)
    return target


def _copy_repository(template: Path, into: Path, owner: int | None) -> None:
    shutil.copytree(template, into, dirs_exist_ok=True)
    for here, _, names in os.walk(into):
        for spot in (here, *(os.path.join(here, name) for name in names)):  # noqa: PTH118 - os.walk speaks str
            os.chmod(spot, 0o755 if spot == here else 0o644)  # noqa: PTH101
            if owner is not None:
                os.chown(spot, owner, owner)


def _record(folder: Path, packet: ExecutionPacket, layout: Layout, shared: Path | None) -> None:
    layers = [
        (_layer_name(layout, number), {**asdict(layer), "covered": sorted(layer.covered)})
        for number, layer in enumerate(layout.layers)
    ]
    record = {
        "packet_id": packet.packet_id,
        "base_tree": packet.base.tree,
        "max_bytes": packet.limits.disk,
        "layers": layers,
        "mounts": sorted(_mounts(layout, shared), key=lambda mount: mount[1]),
    }
    write_synced(folder / _RECORD, json.dumps(record).encode())


def _mounts(layout: Layout, shared: Path | None) -> list[tuple[str, str, bool]]:
    """List (source, inside, writable); sources are relative to the workspace: somebody may move the repository."""
    mounts = [("grace", GRACE, False), ("grace/out", f"{GRACE}/out", True)]
    mounts += [(_layer_name(layout, n), _inside(layer.folder), layer.writable) for n, layer in enumerate(layout.layers)]
    if shared is not None:
        mounts += [(str(shared / folder), _inside(folder), False) for folder in layout.binds]
        mounts += [] if any(layer.folder == "" for layer in layout.layers) else [(str(shared), REPO, False)]
        mounts.append(("git", f"{REPO}/.git", True))
    return mounts


def _inside(folder: str) -> str:
    return f"{REPO}/{folder}" if folder else REPO
