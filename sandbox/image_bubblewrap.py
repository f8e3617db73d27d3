"""Images for bubblewrap: a root filesystem on our disk, made here, or taken out of Docker where that answers."""

from pathlib import Path
from typing import cast

from packets.errors import MachineLacks
from packets.plan import Image
from sandbox import image_store
from sandbox.bubblewrap import BubblewrapSandbox
from sandbox.image import BuiltImage, Progress, machine_image
from sandbox.image_store import RootFs
from sandbox.protocol import Sandbox


def ensure(image: Image, sandbox: Sandbox, plan_dir: Path, progress: Progress) -> BuiltImage:
    """Return the image's root filesystem, as a folder."""
    if image.from_ or image.dockerfile or image.name:
        base = _exported(image, plan_dir, progress)
    else:
        base = machine_image(progress)
    if image.setup:
        from sandbox import image_setup

        base = image_setup.in_bubblewrap(cast("BubblewrapSandbox", sandbox), base, image.setup, plan_dir, progress)
    return BuiltImage(str(base.root), base.digest)


def _exported(image: Image, plan_dir: Path, progress: Progress) -> RootFs:
    """Let Docker get the image, and take its files."""
    from sandbox import image_docker
    from sandbox.docker import DockerSandbox

    wanted = image.from_ or image.dockerfile or image.name
    try:
        docker = DockerSandbox.connect()
    except MachineLacks as error:
        raise MachineLacks(
            f"the image {wanted!r} needs Docker to fetch it, and {error.message}",
            "leave `image.from`, `dockerfile` and `name` out and grace makes the image from this machine's files",
        ) from error
    try:
        found = image_docker.ensure(image.model_copy(update={"setup": ()}), docker, plan_dir, progress)
        key = image_store.key_of("docker", found.ref)
        return image_store.make(
            key, f"docker {wanted}", lambda root: image_docker.export(docker.client, found.ref, root)
        )
    finally:
        docker.close()
