"""What grace adds to the containers it starts: time a module as a ratio to a floor measured in the same run.

A module is trivial here: a command agent that writes one file, and one check. The floor of a module is two bare
hardened containers (one for the worker, one for the check), started, waited for and removed, and five git plumbing
calls. Both are done for the same number of modules, two at once, in turns, so that a busy moment hits both.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import docker

from packets.plan import Image
from sandbox.choose import choose
from sandbox.image import ensure_image

AIM = 1.5
AT_ONCE = 2
GRACE = Path(sys.executable).with_name("grace")
HARDENED = {
    "network_mode": "none",
    "read_only": True,
    "cap_drop": ["ALL"],
    "security_opt": ["no-new-privileges:true"],
    "init": True,
    "user": "1000:1000",
    "pids_limit": 256,
    "mem_limit": "2g",
    "memswap_limit": "2g",
    "nano_cpus": 1_000_000_000,
    "tmpfs": {"/tmp": "rw,size=64m"},
}


def git(folder: Path, *args: str, given: str = "") -> str:
    """Run one git command."""
    done = subprocess.run(["git", *args], cwd=folder, input=given, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def repository(folder: Path) -> None:
    """Make a repository with one commit."""
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main")
    git(folder, "config", "user.name", "bench")
    git(folder, "config", "user.email", "bench@localhost")
    (folder / "README.md").write_text("bench\n")
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "base")


def plan(modules: int) -> str:
    """Return a plan (JSON is YAML) of trivial modules in one wave."""
    agents, listed = {}, []
    for number in range(modules):
        name, path = f"m{number:02}", f"out/m{number:02}.txt"
        agents[name] = {"kind": "command", "run": ["sh", "-c", f"echo {name} > {path}"]}
        checks = {"module_local_checks": [f"test -s {path}"]}
        listed.append(
            {"id": name, "agent": name, "purpose": f"Write {name}", "write_scope": [path], "verification": checks}
        )
    phases = [{"id": "all", "modules": listed}]
    return json.dumps({"version": 1, "name": "overhead", "sandbox": "docker", "agents": agents, "phases": phases})


def grace_seconds(scratch: Path, modules: int) -> float:
    """Return how long grace takes for all modules, start-up and landing included."""
    folder = scratch / f"grace-{time.monotonic_ns()}"
    repository(folder)
    (folder / "plan.yaml").write_text(plan(modules))
    command = [GRACE, "run", "plan.yaml", "--yes", "--max-workers", str(AT_ONCE)]
    begin = time.perf_counter()
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    took = time.perf_counter() - begin
    if done.returncode or len(git(folder, "ls-tree", "main:out").splitlines()) != modules:
        raise SystemExit(f"the run failed with {done.returncode}:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return took


def bare_container(client: docker.DockerClient, image: str) -> None:
    """Create, start, wait for and remove one container."""
    container = client.containers.create(image, ["true"], **HARDENED)
    container.start()
    container.wait()
    container.remove()


def bare_module(client: docker.DockerClient, image: str, folder: Path, number: int) -> None:
    """Do what no orchestrator can do without: two containers, and a commit without a checkout."""
    for _ in range(2):
        bare_container(client, image)
    blob = git(folder, "hash-object", "-w", "--stdin", given=f"{number}\n")
    listed = git(folder, "ls-tree", "HEAD")
    tree = git(folder, "mktree", given=f"{listed}\n100644 blob {blob}\tm{number}.txt\n")
    commit = git(folder, "commit-tree", tree, "-p", "HEAD", "-m", "module")
    git(folder, "update-ref", f"refs/bench/{number}", commit)


def floor_seconds(scratch: Path, modules: int, image: str) -> float:
    """Return how long the bare minimum takes for all modules."""
    folder = scratch / f"floor-{time.monotonic_ns()}"
    repository(folder)
    client = docker.from_env()
    begin = time.perf_counter()
    with ThreadPoolExecutor(AT_ONCE) as pool:
        list(pool.map(lambda number: bare_module(client, image, folder, number), range(modules)))
    took = time.perf_counter() - begin
    client.close()
    return took


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--modules", type=int, default=30)
    parser.add_argument("--rounds", type=int, default=2, help="how often both are measured; the fastest of each counts")
    args = parser.parse_args()
    image = ensure_image(Image(), choose("docker").sandbox, Path.cwd(), progress=print).ref
    with tempfile.TemporaryDirectory() as folder:
        scratch = Path(folder)
        rounds = [
            (floor_seconds(scratch, args.modules, image), grace_seconds(scratch, args.modules))
            for _ in range(args.rounds)
        ]
    floor, grace = (min(column) / args.modules for column in zip(*rounds, strict=True))
    verdict = "within" if grace / floor <= AIM else "misses"
    print(f"floor  {floor * 1000:7.0f} ms a module")
    print(f"grace  {grace * 1000:7.0f} ms a module")
    print(f"ratio  {grace / floor:7.2f}   {verdict} the aim of {AIM:g}")
    return 0 if grace / floor <= AIM else 1


if __name__ == "__main__":
    sys.exit(main())
