"""Engines for tests. A Docker engine is a must where CI says so; elsewhere its absence is said aloud."""

import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from packets.errors import MachineLacks
from packets.plan import Image
from sandbox.choose import choose
from sandbox.docker import DockerSandbox
from sandbox.image import ensure_image
from sandbox.protocol import Sandbox

_START_TIMEOUT = 60.0


def _start_docker() -> str:
    """Bring a Docker engine to a bare Debian machine; returns why not."""
    if os.geteuid() != 0 or not shutil.which("apt-get"):
        return "not root on Debian, so it cannot be started here"
    if not shutil.which("dockerd"):
        environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
        for command in (["apt-get", "update"], ["apt-get", "install", "-y", "docker.io", "iptables"]):
            done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
            if done.returncode:
                return f"{' '.join(command)} failed: {done.stderr.strip()[-300:]}"
    with Path("/tmp/grace-dockerd.log").open("wb") as log:
        subprocess.Popen(["dockerd"], stdout=log, stderr=log, start_new_session=True)
    deadline = time.monotonic() + _START_TIMEOUT
    while time.monotonic() < deadline:
        try:
            DockerSandbox.connect().close()
        except MachineLacks:
            time.sleep(0.5)
        else:
            return ""
    return "dockerd did not answer within a minute; see /tmp/grace-dockerd.log"


@pytest.fixture(scope="session")
def docker_engine() -> Iterator[DockerSandbox]:
    """A real Docker engine, started when it has to be; a test that needs it never passes without."""
    try:
        sandbox = DockerSandbox.connect()
    except MachineLacks as missing:
        reason = _start_docker()
        if reason and os.environ.get("CI") == "true":
            pytest.fail(f"CI=true and no Docker engine: {missing.message}; {reason}", pytrace=False)
        if reason:
            pytest.skip(f"NO DOCKER ENGINE, NOT TESTED: {missing.message}; {reason}")
        sandbox = DockerSandbox.connect()
    yield sandbox
    sandbox.close()


@pytest.fixture(scope="session", params=["docker", "bubblewrap"])
def engine(request: pytest.FixtureRequest) -> Iterator[Sandbox]:
    """Every engine that isolates, one after the other."""
    if request.param == "docker":
        yield request.getfixturevalue("docker_engine")
        return
    sandbox = choose("bubblewrap").sandbox
    yield sandbox
    sandbox.close()  # type: ignore[attr-defined]


@pytest.fixture(scope="session")
def engine_image(engine: Sandbox) -> str:
    """The default worker image on that engine, ready for `Job.image`."""
    return ensure_image(Image(), engine, Path.cwd(), progress=print).ref


@pytest.fixture(scope="session")
def docker_image(docker_engine: DockerSandbox) -> str:
    """The default worker image in docker."""
    return ensure_image(Image(), docker_engine, Path.cwd(), progress=print).ref
