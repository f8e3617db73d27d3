"""The controller is killed -9 around real processes, real containers and images; see test_crash_everywhere.py.

A worker in bubblewrap dies with the controller and works anew; one in Docker outlives it and is adopted. Images are
small ones that cost nothing to make; what matters is that a half-made one never counts and leaves nothing behind.
"""

import hashlib
import io
import json
import subprocess
import sys
import tarfile
import threading
import time
import uuid
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
import yaml

from sandbox import image_store
from sandbox.crash import points
from sandbox.image import _machine_key

PROCESS = (
    "workspace.prepare", "job.mark", "job.start", "job.end", "job.remove", "log.keep", "tree.import", "ref.attempt",
    "outcome.store", "folder.aside", "folder.remove", "step.work",
)  # fmt: skip
CONTAINER = ("container.create", "container.start", "container.kill", "container.remove", "job.end", "outcome.store")
SIDES = ("before", "after")
BUBBLEWRAP = [f"{effect}.{side}" for effect in PROCESS for side in SIDES]
DOCKER = [f"{effect}.{side}" for effect in CONTAINER for side in SIDES]
SHELL = 'printf "%s %s\\n" "$GRACE_MODULE" "$GRACE_ATTEMPT" > src/$(echo $GRACE_MODULE | tr A-Z a-z).txt'
WORKER = {"kind": "command", "run": ["sh", "-c", f'{SHELL}; test "$GRACE_MODULE" != Slow || sleep 60']}
CHECKS = ["test -f src/a.txt"]


@pytest.fixture(scope="module")
def x(crashing):
    return crashing


@pytest.fixture(scope="module")
def made(x, server, verbs, tmp_path_factory):
    """Give a world with a small plan for each engine, and what it comes to when nobody is killed."""
    world = x.World(tmp_path_factory.mktemp("world") / "repo", server, verbs)
    world.begin()
    world.keep("empty")
    began = time.monotonic()
    yield world
    spent = time.monotonic() - began
    sys.stdout.write(f"\ncrash in sandboxes: {len(points())} fault points, {world.lives} lives, {spent:.0f} s\n")


@pytest.fixture(scope="module")
def plans(x, made):
    """Put the plan of an engine on the shelf, and play it."""
    known = {}

    def quiet(engine):
        if engine not in known:
            modules = {
                "A": {"verification": {"module_local_checks": CHECKS}},
                "B": {"phase": "two", "depends_on": ["A"]},
            }
            if engine == "docker":
                modules["Slow"] = {"optional": True, "limits": {"deadline": 1, "attempts": 1}}
            made.take("empty")
            keys = {"sandbox": engine, "agents": {"act": WORKER}}
            (made.path / "plan.yaml").write_text(x.plan(modules, checks=CHECKS, **keys))
            made.repo.commit("the plan")
            made.works()
            made.keep(engine)
            command = x.Command(("run", "plan.yaml", "--yes", "--max-workers", "2"), again=x.RESUME)
            scenario = x.Scenario(engine, (command,))
            known[engine] = scenario, x.calm(made, scenario)
        return known[engine]

    return quiet


@pytest.mark.parametrize("point", BUBBLEWRAP)
def test_killed_around_a_process_in_bubblewrap(made, plans, x, point):
    killed_around(made, plans("bubblewrap"), x, point)


@pytest.mark.parametrize("point", DOCKER)
@pytest.mark.usefixtures("docker_engine")
def test_killed_around_a_container(made, plans, x, point):
    killed_around(made, plans("docker"), x, point)


def killed_around(made, plan, x, point):
    scenario, quiet = plan
    everywhere = [crash for crash in quiet.everything if crash.point.startswith(f"{point}:")]
    assert everywhere, f"nothing reaches {point}"
    for crash in everywhere if x.FULL else everywhere[:1]:
        lives = x.play(made, scenario, (crash,))
        assert [life.code for life in lives] == [x.KILLED, 0]
        assert not x.faults(made, scenario, quiet, lives)


# --- images


class Registry(BaseHTTPRequestHandler):
    """Serves one image of one file, as registries do."""

    def do_GET(self):
        body, kind = self.server.content.get(self.path.rpartition("/")[2], (b"{}", "application/json"))
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Docker-Content-Digest", digest(body))
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(body)

    do_HEAD = do_GET  # noqa: N815 - the base class's word

    def log_message(self, *_):
        return


def digest(body):
    return f"sha256:{hashlib.sha256(body).hexdigest()}"


@pytest.fixture(scope="module")
def registry():
    """Give the name of an image in a registry of our own."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        member = tarfile.TarInfo("one")
        member.size = 16
        archive.addfile(member, io.BytesIO(uuid.uuid4().bytes))
    layer = out.getvalue()
    known = {"type": "layers", "diff_ids": [digest(layer)]}
    config = json.dumps({"architecture": "amd64", "os": "linux", "config": {}, "rootfs": known}).encode()
    kind = "application/vnd.docker.distribution.manifest.v2+json"
    described = [
        {"mediaType": f"application/vnd.docker.{what}", "size": len(body), "digest": digest(body)}
        for what, body in (("container.image.v1+json", config), ("image.rootfs.diff.tar", layer))
    ]
    whole = {"schemaVersion": 2, "mediaType": kind, "config": described[0], "layers": described[1:]}
    manifest = json.dumps(whole).encode()
    served = ThreadingHTTPServer(("127.0.0.1", 0), Registry)
    served.content = {digest(body): (body, "application/octet-stream") for body in (config, layer)}
    served.content |= dict.fromkeys(("1", digest(manifest)), (manifest, kind))
    threading.Thread(target=served.serve_forever, daemon=True).start()
    yield f"127.0.0.1:{served.server_port}/one:1"
    served.shutdown()
    served.server_close()


@pytest.fixture(scope="module")
def images(made, registry, docker_image, tmp_path_factory):
    """Give the command of each way to an image; what they leave in the engine is gone at the end."""
    made.take("empty")
    mark = uuid.uuid4().hex
    (made.path / "file").write_text(mark)
    (made.path / "Dockerfile").write_text("FROM scratch\nCOPY file /file\n")
    (made.path / "Worker").write_text(f"FROM {docker_image}\nLABEL mark={mark}\n")
    for name, image in {
        "pull": {"from": registry},
        "build": {"dockerfile": "Dockerfile"},
        "setup": {"dockerfile": "Worker", "setup": [f"echo {mark}"]},
    }.items():
        keys = {"image": image, "sandbox": "docker", "agents": {"act": WORKER}}
        modules = [{"id": "A", "purpose": "a", "agent": "act", "write_scope": ["a"]}]
        phases = [{"id": "one", "modules": modules}]
        whole = {"version": 1, "name": "i", **keys, "phases": phases}
        (made.path / f"{name}.yaml").write_text(yaml.safe_dump(whole))
    made.repo.commit("images")
    made.env["XDG_CACHE_HOME"] = str(made.beside / "cache")
    with pytest.MonkeyPatch.context() as patch:  # a machine's image of one file: what is in it does not matter here
        patch.setenv("XDG_CACHE_HOME", made.env["XDG_CACHE_HOME"])
        small = image_store.make(_machine_key(), "machine", lambda root: {"A": str((root / "one").write_text(mark))})
    made.keep("images")
    commands = {
        "pull": ("sandbox", "build", "pull.yaml"),
        "build": ("sandbox", "build", "build.yaml"),
        "import": ("sandbox", "build", "--sandbox", "docker"),
        "export": ("sandbox", "build", "build.yaml", "--sandbox", "bubblewrap"),
        "setup": ("sandbox", "build", "setup.yaml"),
        "prune": ("sandbox", "prune", "--all"),
    }
    yield commands, lambda: forget(mark, small.digest, registry)
    made.env.clear()
    forget(mark, small.digest, registry)


def forget(mark, digest_of_small, registry):
    """Take our images out of the engine."""
    docker("rmi", "-f", registry, f"grace-worker:{digest_of_small[:12]}")
    for made in docker("images", "-q", "--filter", "label=grace.image").split():
        seen = docker("image", "inspect", made)
        if mark in seen:
            docker("rmi", "-f", made)


def docker(*words):
    return subprocess.run(["docker", *words], capture_output=True, text=True, check=False).stdout


WAYS = {
    "pull": ("image.pull",),
    "build": ("image.build",),
    "import": ("image.import",),
    "export": ("setup.create", "setup.remove", "image.keep"),
    "setup": ("setup.create", "image.setup", "image.commit", "setup.remove"),
    "prune": ("image.remove",),
}
IMAGES = [(way, f"{effect}.{side}") for way, effects in WAYS.items() for effect in effects for side in SIDES]


def test_no_fault_point_is_left_out():
    """What test_crash_everywhere.py leaves to this file is killed here."""
    elsewhere = {point for point in points() if point.startswith(("container.", "image.", "setup."))}
    assert elsewhere - {*BUBBLEWRAP, *DOCKER, *(point for _, point in IMAGES)} == set()


@pytest.mark.parametrize(("way", "point"), IMAGES)
@pytest.mark.usefixtures("docker_engine")
def test_killed_while_an_image_is_made(made, images, x, way, point):
    commands, forget_what_was_made = images
    words = commands[way]
    made.take("images")
    made.named = ""
    forget_what_was_made()
    hidden = {"GRACE_DOCKER_HOST": "unix:///none"} if way == "prune" else {}  # of others' images nothing is pruned
    first = made.life(*words, crash=point, **hidden)
    assert first.code == x.KILLED, first.said
    again = made.life(*words, **hidden)
    assert again.code == 0, again.said
    assert "Traceback" not in again.said
    cache = made.beside / "cache" / "grace"
    assert list(cache.rglob(".making-*")) == []
    for kind in ("export", "setup"):
        for name in docker("ps", "-a", "--filter", f"label=grace.image={kind}", "--format", "{{.ID}}").split():
            assert str(made.beside) not in docker("inspect", name)
    third = made.life(*words, **hidden)
    assert third.code == 0, third.said
    assert not {"image.pull.before", "image.import.before", "image.commit.before"} & set(third.points), "made once"
