"""Images in a Docker engine: imported from our root filesystem, built, or named; then set up once."""

import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

from docker import APIClient, errors

from packets.errors import MachineLacks
from packets.plan import Image
from sandbox import image_store
from sandbox.docker import DockerSandbox
from sandbox.effect import effect
from sandbox.image import REPOSITORY, BuiltImage, Progress, machine_image
from sandbox.image_store import SHORT, RootFs, key_of
from sandbox.protocol import Sandbox

LABEL = "grace.image"
_DIGEST = "grace.digest"
_CACHE = "grace.cache"


def ensure(image: Image, sandbox: Sandbox, plan_dir: Path, progress: Progress) -> BuiltImage:
    """Return the image on this engine."""
    client = cast("DockerSandbox", sandbox).client
    base = _base(client, image, plan_dir, progress)
    if not image.setup:
        return base
    from sandbox import image_setup

    return image_setup.in_docker(client, base, image.setup, plan_dir, progress)


def _base(client: APIClient, image: Image, plan_dir: Path, progress: Progress) -> BuiltImage:
    if image.name:
        return named(client, image.name)
    if image.from_:
        return pulled(client, image.from_, progress)
    if image.dockerfile:
        return built(client, plan_dir / image.dockerfile, progress)
    return imported(client, machine_image(progress), progress)


def named(client: APIClient, name: str) -> BuiltImage:
    """Return an image that is already on the engine."""
    with speaking(f"look for the image {name!r}"):
        try:
            found = inspect(client, name)
        except errors.NotFound:
            raise MachineLacks(
                f"docker has no image {name!r}", f"docker pull {name}, or name another in `image:`"
            ) from None
    return BuiltImage(found["Id"], found["Id"].removeprefix("sha256:"))


def pulled(client: APIClient, name: str, progress: Progress) -> BuiltImage:
    """Return the image of that name, fetched from its registry when the engine does not have it."""
    with contextlib.suppress(MachineLacks):
        return named(client, name)
    progress(f"pulling {name}")
    try:
        with effect("image.pull"):
            for event in client.pull(name, stream=True, decode=True):
                if "error" in event:
                    raise MachineLacks(*_no_registry(name, event["error"]))
    except (errors.APIError, OSError) as error:
        raise MachineLacks(*_no_registry(name, getattr(error, "explanation", None) or error)) from error
    return named(client, name)


def built(client: APIClient, dockerfile: Path, progress: Progress) -> BuiltImage:
    """Build from a Dockerfile; its folder is the context. The engine's own cache makes a second build quick."""
    if not dockerfile.is_file():
        raise MachineLacks(f"there is no Dockerfile at {dockerfile}", "the path is relative to the plan")
    progress(f"building {dockerfile.name}")
    tag = f"{REPOSITORY}:file-{key_of(dockerfile.resolve())[:SHORT]}"
    last = ""
    try:
        with effect("image.build"):
            for event in client.build(
                path=str(dockerfile.parent),
                dockerfile=dockerfile.name,
                tag=tag,
                rm=True,
                forcerm=True,
                decode=True,
                labels={LABEL: "1"},
                use_config_proxy=False,
            ):
                if "error" in event:
                    raise MachineLacks(f"{dockerfile.name} could not be built: {_line(event['error'])}", _line(last))
                last = str(event.get("stream") or last).strip() or last
    except (errors.APIError, errors.BuildError, OSError, TypeError) as error:
        raise MachineLacks(f"{dockerfile.name} could not be built: {_line(error)}", _line(last)) from error
    return named(client, tag)


def imported(client: APIClient, rootfs: RootFs, progress: Progress) -> BuiltImage:
    """Put a root filesystem into the engine."""
    tag = rootfs.digest[:SHORT]
    with contextlib.suppress(MachineLacks):
        return BuiltImage(named(client, f"{REPOSITORY}:{tag}").ref, rootfs.digest)
    progress("loading the worker image into docker (once)")
    changes = [f"ENV {name}={value}" for name, value in sorted(rootfs.env.items())]
    changes += [f"LABEL {LABEL}=1", f"LABEL {_DIGEST}={rootfs.digest}"]
    with speaking("import the worker image"), tempfile.TemporaryFile(dir=image_store.cache()) as archive:
        image_store.pack(rootfs.root, archive)
        archive.seek(0)
        # as pieces, not as a file: for a file requests adds a Content-Length to the SDK's "chunked"
        pieces = iter(lambda: archive.read(1 << 20), b"")
        with effect("image.import"):
            client.import_image(src=pieces, stream_src=True, repository=REPOSITORY, tag=tag, changes=changes)
    return BuiltImage(named(client, f"{REPOSITORY}:{tag}").ref, rootfs.digest)


def listed(client: APIClient) -> list[dict[str, Any]]:
    """Return the engine's images that grace made."""
    with speaking("list images"):
        found: list[dict[str, Any]] = client.images(filters={"label": LABEL})
    return found


def inspect(client: APIClient, ref: str) -> dict[str, Any]:
    """Return the engine's facts about an image."""
    found: dict[str, Any] = client.inspect_image(ref)  # type: ignore[no-untyped-call]
    return found


def has(client: APIClient, name: str) -> bool:
    """Whether the engine has the image."""
    try:
        named(client, name)
    except MachineLacks:
        return False
    return True


def export(client: APIClient, ref: str, root: Path) -> dict[str, str]:
    """Write an image's files into `root`, as the caller's own; returns the image's environment."""
    with speaking("export the image"):
        _drop_exports(client)
        with effect("setup.create"):
            container = client.create_container(
                image=ref, command=["true"], labels={LABEL: "export", _CACHE: _our_cache()}, use_config_proxy=False
            )
        try:
            with tempfile.TemporaryFile(dir=image_store.cache()) as archive:
                for piece in client.export(container["Id"]):
                    archive.write(piece)
                archive.seek(0)
                image_store.unpack(archive, root)
        finally:
            with effect("setup.remove"):
                client.remove_container(container["Id"], force=True, v=True)
        config = inspect(client, ref).get("Config") or {}
    return dict(line.split("=", 1) for line in config.get("Env") or ())


def _drop_exports(client: APIClient) -> None:
    """Remove the containers of exports that were killed: who holds the lock of our cache is the only one of it."""
    labels = [f"{LABEL}=export", f"{_CACHE}={_our_cache()}"]
    for left in client.containers(all=True, filters={"label": labels}):
        with contextlib.suppress(errors.NotFound):
            client.remove_container(left["Id"], force=True, v=True)


def _our_cache() -> str:
    return key_of(os.getuid(), image_store.cache())


@contextlib.contextmanager
def speaking(what: str) -> Iterator[None]:
    """Turn the SDK's troubles into one line."""
    try:
        yield
    except (errors.APIError, OSError) as error:
        raise MachineLacks(f"docker could not {what}: {_line(getattr(error, 'explanation', None) or error)}") from error


def _no_registry(name: str, why: object) -> tuple[str, str]:
    return (
        f"no registry answers for the image {name!r}: {_line(why)}",
        (
            "leave `image.from` out and grace makes the image from this machine's files, "
            "or say `image: {name: …}` for a local one"
        ),
    )


def _line(text: object) -> str:
    return " ".join(str(text).split())[:300]
