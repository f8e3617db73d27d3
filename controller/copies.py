"""Readable copies in `.grace/`: packets and reviews. Nothing is read back from them; they can be made again.

A copy of an attempt whose merge was undone says so in its first line.
"""

import json
from contextlib import suppress
from pathlib import Path

from controller.store.records import AttemptRecord, Records
from controller.undone import undone
from packets.ids import slug
from sandbox.effect import effect
from sandbox.roots import Roots

MARK = "# undone: the merge of this attempt was taken back"
"""What stands above the packet of an attempt that nobody may take for live."""
_MARKED = {".yaml": MARK, ".json": '{\n  "undone": true'}


def packet_path(roots: Roots, run_id: str, module: str, attempt: int) -> Path:
    """Return where the readable copy of a packet lies."""
    return roots.readable(run_id) / "packets" / f"{slug(module)}--{attempt}.yaml"


def review_path(roots: Roots, run_id: str, module: str, attempt: int) -> Path:
    """Return where the readable copy of a verdict lies."""
    return roots.readable(run_id) / "reviews" / f"{slug(module)}--{attempt}.json"


def write_packet(roots: Roots, run_id: str, module: str, attempt: int, yaml: str, *, gone: bool = False) -> None:
    """Write the readable copy of a packet."""
    with effect("copy.packet"):
        _write(packet_path(roots, run_id, module, attempt), f"{MARK}\n{yaml}" if gone else yaml)


def write_review(roots: Roots, run_id: str, record: AttemptRecord, *, gone: bool = False) -> None:
    """Write the readable copy of a verdict."""
    if record.verdict:
        path = review_path(roots, run_id, record.packet.module_id, record.packet.attempt)
        said = {"undone": True} if gone else {}
        body = json.dumps({**said, **record.verdict.model_dump(mode="json")}, indent=2, ensure_ascii=False)
        with effect("copy.review"):
            _write(path, body + "\n")


def restore(roots: Roots, records: Records) -> None:
    """Write every copy that is missing, or does not say yet that its attempt is undone.

    A folder that cannot be written takes no reading away from anybody.
    """
    marks = undone(records.store.db, records.run_id)
    with suppress(OSError):
        for record in records.attempts():
            packet = record.packet
            gone = packet.attempt <= marks.get(packet.module_id, 0)
            where = (roots, records.run_id, packet.module_id, packet.attempt)
            if not _is_right(packet_path(*where), gone=gone):
                write_packet(*where, record.packet_yaml, gone=gone)
            if not _is_right(review_path(*where), gone=gone):
                write_review(roots, records.run_id, record, gone=gone)


def _is_right(path: Path, *, gone: bool) -> bool:
    if not gone or not path.exists():
        return path.exists()
    with path.open(encoding="utf-8", errors="surrogateescape") as file:
        return file.read(len(_MARKED[path.suffix])) == _MARKED[path.suffix]


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_name(path.name + ".part")
    fresh.write_text(text, encoding="utf-8", errors="surrogateescape")
    fresh.replace(path)
