"""The images that grace made on this machine: what there is, and what can go."""

import contextlib
from typing import Any, NamedTuple

from packets.errors import MachineLacks
from sandbox import image_store
from sandbox.effect import effect
from sandbox.image import machine_image_made


class Listed(NamedTuple):
    """One image. `current` is what the next run without an `image:` would use; sizes in bytes."""

    engine: str
    name: str
    digest: str
    size: int
    origin: str
    current: bool


def listed() -> tuple[Listed, ...]:
    """Return root filesystems on disk and images in Docker, where that answers."""
    current = machine_image_made()
    now = current.digest if current else ""
    disk = [
        Listed("bubblewrap", str(one.root), one.digest, one.size, one.origin, one.digest == now)
        for one in image_store.all_of_them()
    ]
    with contextlib.suppress(MachineLacks):
        return (*disk, *_in_docker(now))
    return tuple(disk)


def prune(*, everything: bool) -> tuple[Listed, ...]:
    """Remove what is not current (or all) and return it; images that jobs run on stay."""
    return tuple(one for one in listed() if (everything or not one.current) and _remove(one))


def _in_docker(now: str) -> list[Listed]:
    from sandbox import image_docker
    from sandbox.docker import DockerSandbox

    engine = DockerSandbox.connect(timeout=3.0)
    try:
        return [_described(found, now) for found in image_docker.listed(engine.client)]
    finally:
        engine.close()


def _described(found: dict[str, Any], now: str) -> Listed:
    digest = str(found["Labels"].get("grace.digest") or found["Id"].removeprefix("sha256:"))
    name = next(iter(found.get("RepoTags") or ()), found["Id"])
    origin = "setup" if digest.startswith("setup-") else "dockerfile" if ":file-" in name else "machine"
    return Listed("docker", name, digest, int(found["Size"]), origin, digest == now)


def _remove(one: Listed) -> bool:
    if one.engine == "bubblewrap":
        return image_store.forget(one.digest)
    from docker import errors

    from sandbox.docker import DockerSandbox

    engine = DockerSandbox.connect()
    try:
        with effect("image.remove"):
            engine.client.remove_image(one.name)
    except errors.APIError:  # a container runs on it, or another image was made from it
        return False
    finally:
        engine.close()
    return True
