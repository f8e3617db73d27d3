"""Rows G: containers."""

import os

import pytest


@pytest.mark.parametrize("engine", ["docker", "bubblewrap"])
def test_g1_a_worker_with_umask_077_leaves_nothing_unreadable(repo, engine):
    """Files on the host belong to the user, and what lands has the modes that git knows."""
    shell = (
        "umask 077; mkdir -p src/new/deep; echo x > src/new/deep/a.txt; echo y > src/b.txt; chmod 000 src/b.txt src/new"
    )
    repo.plan({"A": {"shell": shell, "write_scope": ["src/"]}}, sandbox=engine)
    repo.grace("run", "plan.yaml", "--yes").exits(0)
    assert repo.show("src/new/deep/a.txt") == "x"
    assert repo.show("src/b.txt") == "y"
    for path in [repo.path / "src" / "new", *repo.path.rglob("*.txt"), *(repo.path / ".grace").rglob("*")]:
        assert path.stat().st_uid == os.getuid(), path
        assert path.stat().st_mode & 0o400, path
    assert repo.leftovers() == []


def test_g1_an_image_that_runs_as_root(repo, docker_engine, docker_image, do, tmp_path):
    (tmp_path / "Dockerfile").write_text(f"FROM {docker_image}\nUSER root\n")
    tag = f"grace-cases-root:{os.getpid()}"
    do.docker("build", "-q", "-t", tag, str(tmp_path))
    try:
        shell = "id -u > src/who.txt"
        repo.plan({"A": {"shell": shell, "write_scope": ["src/who.txt"]}}, sandbox="docker", image={"name": tag})
        repo.grace("run", "plan.yaml", "--yes").exits(0)
        assert repo.show("src/who.txt") != "0"
        assert (repo.path / "src" / "who.txt").stat().st_uid == os.getuid()
    finally:
        do.docker("rmi", tag)


@pytest.mark.parametrize("engine", ["docker", "bubblewrap"])
def test_g3_cancelling_one_run_leaves_the_others_workers_alone(new_repo, do, engine):
    """The second is a run of another repository: both share one engine, and maybe the second of the clock."""
    runs = []
    for number, name in enumerate(("one", "two")):
        repo = new_repo(name)
        shell = f"printf there{number} > src/a.txt; sleep {3 if number else 600}; echo x > src/a.txt"
        repo.plan({"A": {"shell": shell, "write_scope": ["src/a.txt"]}}, sandbox=engine)
        runs.append((repo, repo.start("run", "plan.yaml", "--yes", "--json")))
    for number, (repo, _) in enumerate(runs):
        do.wrote(repo, f"there{number}")
    (one, first), (two, second) = runs
    one.grace("cancel", one.status()["run_id"]).exits(0)
    first.stdout.read()
    assert first.wait(timeout=60) == 1
    assert one.leftovers() == []
    second.stdout.read()
    assert second.wait(timeout=60) == 0
    assert two.show("src/a.txt") == "x"
    assert two.module("A")["attempt"] == 1


@pytest.mark.parametrize("engine", ["docker", "bubblewrap"])
def test_g4_what_has_no_bounds_is_bounded_and_the_limit_is_named(repo, engine):
    rows = {
        "Forks": ("for i in $(seq 400); do sleep 4 & done; wait", "pids"),
        "Hogs": ("python3 -c 'x = [bytearray(1 << 20) for _ in range(4000)]'", "memory"),
        "Fills": ("for i in 1 2 3; do head -c 200000000 /dev/zero >> src/fills.txt; sleep 1; done", "disk"),
        "Zombies": ("for i in $(seq 40); do (sleep 0.1 &) ; done; (setsid sleep 500 &); echo x > src/zombies.txt", ""),
    }  # fmt: skip
    limits = {"attempts": 1, "pids": 64, "memory": "256m", "disk": "100m", "deadline": "15s"}
    repo.plan(
        {n: {"shell": s, "write_scope": [f"src/{n.lower()}.txt"], "optional": True} for n, (s, _) in rows.items()},
        sandbox=engine,
        defaults={"limits": limits},
    )
    told = repo.grace("run", "plan.yaml", "--yes", "--max-workers", "4").exits(0).said
    for module in repo.status()["modules"]:
        limit = rows[module["id"]][1]
        words = " ".join(f["code"] + " " + f["message"] for f in module["findings"])
        if not limit:
            assert module["state"] == "done", module
            continue
        assert module["state"] == "failed", module
        bounded = limit in words or f"cannot enforce {limit}" in told
        assert bounded, (module["id"], words)
    assert repo.leftovers() == []
