"""`setup:` commands: run once as root inside the base image, with network; what they leave is the new image.

They see the repository's HEAD at /repo (a throwaway copy), and this machine's way to the network: proxies,
certificates, pip's configuration. Those come in files under a mounted folder that is no part of the image.
"""

import contextlib
import json
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from docker import APIClient, errors, types

from packets.errors import MachineLacks, UsageError
from sandbox import image_store, process
from sandbox.bubblewrap import BubblewrapSandbox
from sandbox.bubblewrap_argv import image_environment, kernel, walls
from sandbox.effect import effect
from sandbox.image import REPOSITORY, BuiltImage, Progress
from sandbox.image_network import INSIDE, NetworkAccess, network_access
from sandbox.image_store import SHORT, RootFs, key_of
from sandbox.protocol import REPO, Mount
from sandbox.scratch import scratch

_TIMEOUT = 3600.0
_SAID = 30  # lines of a failed command's output that are looked at
_MARK = "grace-setup-command"
# What decides which packages a setup like `pip install -e .[test]` brings: another content, another image.
_PYTHON = "pyproject.toml setup.py setup.cfg uv.lock poetry.lock Pipfile Pipfile.lock tox.ini environment.yml"
_OTHERS = "package.json package-lock.json yarn.lock pnpm-lock.yaml Cargo.toml Cargo.lock go.mod go.sum Gemfile.lock"
_MANIFESTS = frozenset(f"{_PYTHON} {_OTHERS} Makefile Gemfile".split())


def in_docker(
    client: APIClient, base: BuiltImage, setup: Sequence[str], plan_dir: Path, progress: Progress
) -> BuiltImage:
    """Run the commands in a container of `base`, and commit it."""
    from sandbox import image_docker

    with _repository(plan_dir) as (repository, manifests):
        tag = f"setup-{key_of('docker', base.digest, manifests, *setup)[:SHORT]}"
        name = f"{REPOSITORY}:{tag}"
        with image_store.locked():
            with image_docker.speaking("remove what an earlier setup left"):
                _drop(client, f"grace-{tag}")  # of one that was killed, before or after it made the image
            if not image_docker.has(client, name):
                progress(f"running {len(setup)} setup command{'s' if len(setup) > 1 else ''} of the image (once)")
                with _access(setup) as access, effect("image.setup"):
                    _run_container(client, base, tag, (*access.mounts, Mount(repository, REPO, writable=True)), setup)
    return image_docker.named(client, name)


def in_bubblewrap(
    sandbox: BubblewrapSandbox, base: RootFs, setup: Sequence[str], plan_dir: Path, progress: Progress
) -> RootFs:
    """Run the commands on a copy of the base's files."""
    with _repository(plan_dir) as (repository, manifests):

        def fill(root: Path) -> dict[str, str]:
            progress(f"running {len(setup)} setup command{'s' if len(setup) > 1 else ''} of the image (once)")
            shutil.copytree(base.root, root, symlinks=True, dirs_exist_ok=True)
            with _access(setup) as access, effect("image.setup"):
                _run_bubblewrap(
                    sandbox, root, (*access.mounts, Mount(repository, REPO, writable=True)), base.env, setup
                )
            return dict(base.env)

        return image_store.make(key_of("bubblewrap", base.digest, manifests, *setup), f"{base.origin} + setup", fill)


@contextmanager
def _access(setup: Sequence[str]) -> Iterator[NetworkAccess]:
    with scratch("setup") as folder:
        access = network_access(folder)
        _write_script(folder, setup)
        yield access


def _write_script(folder: Path, setup: Sequence[str]) -> None:
    """One file a command, run in turn: a quote in one cannot change the next."""
    lines = ["set -a", f". {INSIDE}/environment", "set +a", f"cd {REPO}"]
    for number, command in enumerate(setup):
        (folder / f"command-{number}").write_text(command + "\n")
        lines += [f"echo {_MARK} {number}", f"sh -e {INSIDE}/command-{number} || exit $?"]
    (folder / "run").write_text("\n".join(lines) + "\n")


@contextmanager
def _repository(plan_dir: Path) -> Iterator[tuple[Path, str]]:
    """Give a throwaway copy of HEAD, and what its package manifests hold; an empty folder without a repository."""
    from sandbox.checkout import candidate, discard
    from sandbox.git import Git

    with ExitStack() as stack:
        folder = stack.enter_context(scratch("setup-repo"))
        try:
            git = stack.enter_context(Git.discover(plan_dir))
            tree = git.tree("HEAD")
        except UsageError:
            yield folder, ""
            return
        entries = git.entries(tree)
        wanted = {name: entry.blob for name, entry in entries.items() if "/" not in name and _is_manifest(name)}
        stack.callback(discard, folder / "repo")
        yield candidate(git, tree, folder / "repo", None), json.dumps(wanted, sort_keys=True)


def _is_manifest(name: str) -> bool:
    return name in _MANIFESTS or (name.endswith(".txt") and name.startswith(("requirements", "constraints")))


def _run_container(
    client: APIClient, base: BuiltImage, tag: str, mounts: Sequence[Mount], setup: Sequence[str]
) -> None:
    from sandbox import image_docker

    name = f"grace-{tag}"
    with image_docker.speaking("run the image's setup"):
        _drop(client, name)
        try:
            with effect("setup.create"):
                client.create_container(
                    image=base.ref,
                    command=["sh", f"{INSIDE}/run"],
                    entrypoint=[],
                    name=name,
                    user="0:0",
                    working_dir="/",
                    labels={image_docker.LABEL: "setup"},
                    host_config=client.create_host_config(
                        network_mode="host",
                        init=True,
                        tmpfs={"/grace": "size=16m"},
                        mounts=[
                            types.Mount(m.target, str(m.source), type="bind", read_only=not m.writable) for m in mounts
                        ],
                    ),
                    use_config_proxy=False,
                )
            client.start(name)
            code = int(client.wait(name, timeout=int(_TIMEOUT))["StatusCode"])
            if code:
                said = client.logs(name, tail=_SAID).decode(errors="replace")
                raise _failed(code, said, setup)
            _commit(client, name, tag, base)
        finally:
            _drop(client, name)


def _commit(client: APIClient, name: str, tag: str, base: BuiltImage) -> None:
    from sandbox import image_docker

    config: dict[str, Any] = image_docker.inspect(client, base.ref).get("Config") or {}
    command, entry = json.dumps(config.get("Cmd") or []), json.dumps(config.get("Entrypoint") or [])
    changes = [f"LABEL grace.image=1 grace.digest={tag}", f"CMD {command}", f"ENTRYPOINT {entry}"]
    with effect("image.commit"):
        client.commit(name, repository=REPOSITORY, tag=tag, changes="\n".join(changes))


def _drop(client: APIClient, name: str) -> None:
    with contextlib.suppress(errors.NotFound), effect("setup.remove"):
        client.remove_container(name, force=True, v=True)


def _run_bubblewrap(
    sandbox: BubblewrapSandbox, root: Path, mounts: Sequence[Mount], env: Mapping[str, str], setup: Sequence[str]
) -> None:
    argv = [str(sandbox.binary), *walls(disable_userns=sandbox.disable_userns, network=True, uid="0")]
    argv += ["--bind", str(root), "/", *kernel(), "--tmpfs", "/tmp", "--tmpfs", "/grace"]  # noqa: S108 - inside
    for name in ("resolv.conf", "hosts"):
        if Path("/etc", name).exists():
            argv += ["--ro-bind", str(Path("/etc", name).resolve()), f"/etc/{name}"]
    for mount in mounts:
        argv += ["--bind" if mount.writable else "--ro-bind", str(mount.source), mount.target]
    for key, value in {**image_environment(root), **env, "HOME": "/root", "LANG": "C.UTF-8"}.items():
        argv += ["--setenv", key, value]
    done = process.run([*argv, "--chdir", "/", "--", "sh", f"{INSIDE}/run"], env={}, timeout=_TIMEOUT)
    if done.code:
        raise _failed(done.code, done.output, setup)


def _failed(code: int, output: str, setup: Sequence[str]) -> MachineLacks:
    lines = [line for line in output.splitlines() if line.strip()]
    number = max((int(line.split()[1]) for line in lines if line.startswith(f"{_MARK} ")), default=-1)
    said = next((line.strip() for line in reversed(lines) if not line.startswith(_MARK)), "it said nothing")
    which = f"{setup[number]!r}" if 0 <= number < len(setup) else "a setup command"
    return MachineLacks(
        f"the image's setup failed with {code} at {which}: {said[:300]}", "run it by hand, or change `setup:`"
    )
