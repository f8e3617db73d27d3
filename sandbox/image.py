"""The worker image: found or made for a plan, once, and the same root filesystem for docker and bubblewrap."""

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from packets.plan import Image
from sandbox import image_files, image_store
from sandbox.image_store import RootFs
from sandbox.protocol import Sandbox

Progress = Callable[[str], None]

REPOSITORY = "grace-worker"
_LAYOUT = "1"  # raise it when what `image_files` assembles changes


class BuiltImage(NamedTuple):
    """`ref` goes into `Job.image`; `digest` names the contents."""

    ref: str
    digest: str


def ensure_image(image: Image, sandbox: Sandbox, plan_dir: Path, *, progress: Progress) -> BuiltImage:
    """Return the image the plan asks for, made when it is not there yet.

    Raises MachineLacks when it cannot be had; nothing is ever taken instead of it.
    """
    if sandbox.name == "docker":
        from sandbox import image_docker

        return image_docker.ensure(image, sandbox, plan_dir, progress)
    if sandbox.name == "bubblewrap":
        from sandbox import image_bubblewrap

        return image_bubblewrap.ensure(image, sandbox, plan_dir, progress)
    return BuiltImage("", "")


def machine_image_made() -> RootFs | None:
    """Return the image of this machine's own files, if it is made already."""
    return image_store.find(_machine_key())


def machine_image(progress: Progress) -> RootFs:
    """Return the root filesystem made of this machine's own files."""
    if found := machine_image_made():
        return found
    progress("making the worker image from this machine's own files (once)")

    def fill(root: Path) -> dict[str, str]:
        image_files.assemble(root)
        return {"PATH": image_files.PATH}

    return image_store.make(_machine_key(), "machine", fill)


def _machine_key() -> str:
    return image_store.key_of("machine", _LAYOUT, *(_status(path) for path in image_files.sources()))


def _status(path: Path) -> str:
    try:
        status = path.stat()
    except OSError:
        return str(path)
    return f"{path} {status.st_size} {status.st_mtime_ns}"
