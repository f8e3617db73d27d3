"""Readable copies in `.grace/`: packets and reviews. Nothing is read back from them; they can be made again."""

import json
from contextlib import suppress
from pathlib import Path

from controller.store.records import AttemptRecord, Records
from packets.ids import slug
from sandbox.effect import effect
from sandbox.roots import Roots


def packet_path(roots: Roots, run_id: str, module: str, attempt: int) -> Path:
    """Return where the readable copy of a packet lies."""
    return roots.readable(run_id) / "packets" / f"{slug(module)}--{attempt}.yaml"


def review_path(roots: Roots, run_id: str, module: str, attempt: int) -> Path:
    """Return where the readable copy of a verdict lies."""
    return roots.readable(run_id) / "reviews" / f"{slug(module)}--{attempt}.json"


def write_packet(roots: Roots, run_id: str, module: str, attempt: int, yaml: str) -> None:
    """Write the readable copy of a packet."""
    with effect("copy.packet"):
        _write(packet_path(roots, run_id, module, attempt), yaml)


def write_review(roots: Roots, run_id: str, record: AttemptRecord) -> None:
    """Write the readable copy of a verdict."""
    if record.verdict:
        path = review_path(roots, run_id, record.packet.module_id, record.packet.attempt)
        body = json.dumps(record.verdict.model_dump(mode="json"), indent=2, ensure_ascii=False)
        with effect("copy.review"):
            _write(path, body + "\n")


def restore(roots: Roots, records: Records) -> None:
    """Write every copy that is missing. A folder that cannot be written takes no reading away from anybody."""
    with suppress(OSError):
        for record in records.attempts():
            packet = record.packet
            if not packet_path(roots, records.run_id, packet.module_id, packet.attempt).exists():
                write_packet(roots, records.run_id, packet.module_id, packet.attempt, record.packet_yaml)
            if not review_path(roots, records.run_id, packet.module_id, packet.attempt).exists():
                write_review(roots, records.run_id, record)


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_name(path.name + ".part")
    fresh.write_text(text, encoding="utf-8", errors="surrogateescape")
    fresh.replace(path)
