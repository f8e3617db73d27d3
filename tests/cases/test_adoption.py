"""Rows A1, H3, B7 and their brothers: containers outlive the controller, and others lay hands on them meanwhile."""

import shutil

import pytest

ONCE = "printf there > src/a.txt; until [ -e src/go ]; do sleep 0.1; done; rm src/go; od -An -N8 -tx8 /dev/urandom"
PLAN = {"A": {"shell": f"{ONCE} > src/a.txt", "write_scope": ["src/a.txt", "src/go"]}}


@pytest.fixture
def killed(repo, do):
    """A run whose controller was killed -9 while its container works: (run, container)."""
    repo.plan(PLAN, sandbox="docker", defaults={"limits": {"attempts": 1}})
    process = repo.start("run", "plan.yaml", "--yes", "--json")
    do.wrote(repo, "there")
    do.kill(process)
    run = repo.status()["run_id"]
    (name,) = do.containers(run)
    yield run, name
    do.docker("rm", "--force", name)


def go(repo):
    """Let the worker come to its end; it waits for this file."""
    (spot,) = repo.path.glob(".git/grace/runs/*/work/*/layers/*/**/a.txt")
    (spot.parent / "go").touch()
    return spot


def identity(do, name):
    return do.docker("inspect", "--format", "{{.Id}} {{.State.StartedAt}} {{.State.Status}}", name).split()


def ids(do, run):
    return do.docker("ps", "--all", "--quiet", "--no-trunc", "--filter", f"label=grace.run={run}").split()


def finished(repo, do, run, *, rescued=False):
    """Assert that the run came to its end with one attempt, and left nothing."""
    assert repo.module("A")["attempt"] == 1
    assert bool(do.rescued(repo, run, "A")) == rescued
    assert repo.leftovers() == []
    assert len(repo.git("log", "--format=%H", "--grep", "Grace-Module: A", "main").split()) == 1


@pytest.mark.parametrize("meanwhile", ["running", "paused"])
def test_a1_a_worker_that_still_works_is_adopted(repo, do, killed, meanwhile):
    """Nothing of it is done twice: what it made before the controller came back is what lands."""
    run, name = killed
    if meanwhile == "paused":
        do.docker("pause", name)
    before = identity(do, name)
    process = repo.start("resume", run, "--json")
    do.seen(process, lambda event: True)
    assert identity(do, name)[:2] == before[:2]
    if meanwhile == "paused":
        do.docker("unpause", name)
    go(repo)
    process.stdout.read()
    assert process.wait(60) == 0
    assert len(repo.show("src/a.txt").split()) == 1
    finished(repo, do, run)


def test_h3_how_a_worker_ended_alone_is_what_counts(repo, do, killed):
    run, name = killed
    spot = go(repo)
    do.docker("wait", name)
    made = spot.read_text()
    repo.grace("resume", run).exits(0)
    assert repo.show("src/a.txt") == made.strip("\n")
    finished(repo, do, run)


def test_a1_a_stranger_under_our_name_is_left_alone_and_named(repo, do, killed):
    """It is not ours to adopt, remove or clean; the work is kept, and the run goes on when the person has decided."""
    run, name = killed
    image = do.docker("inspect", "--format", "{{.Image}}", name).strip()
    do.docker("rm", "--force", name)
    do.docker("run", "--detach", "--name", name, "--label", "mine=yes", image, "sleep", "600")
    before = identity(do, name)

    said = repo.grace("resume", run).exits(3).said
    (line,) = [line for line in said.splitlines() if "is blocked" in line]
    assert f"a container named {name} is not this job's" in line
    assert f"docker rm --force {name}" in line
    assert identity(do, name) == before

    do.docker("rm", "--force", name)
    process = repo.start("resume", run, "--json")
    do.wrote(repo, "there")
    go(repo)
    process.stdout.read()
    assert process.wait(60) == 0
    finished(repo, do, run, rescued=True)
    kept = do.rescued(repo, run, "A")
    assert [ref for ref in kept if repo.show("src/a.txt", ref) == "there"], kept


@pytest.mark.parametrize("then", [["cancel"], ["clean", "--force"]], ids=["cancel", "clean"])
def test_a3_the_end_of_a_run_takes_its_own_containers_only(repo, do, killed, then):
    run, name = killed
    image = do.docker("inspect", "--format", "{{.Image}}", name).strip()
    others = {f"{name}-mine": [], f"{name}-run": ["--label", "grace.run=another"]}
    for other, labels in others.items():
        do.docker("run", "--detach", "--name", other, *labels, image, "sleep", "600")
    try:
        before = {other: identity(do, other) for other in others}
        verb, *flags = then
        repo.grace(verb, run, *flags).exits(0)
        assert do.containers(run) == []
        assert {other: identity(do, other) for other in others} == before
    finally:
        do.docker("rm", "--force", *others)


def test_b7_a_worker_whose_folder_was_deleted_is_started_anew(repo, do, killed):
    run, name = killed
    before, head = identity(do, name), repo.head
    (work,) = repo.path.glob(".git/grace/runs/*/work/*")
    shutil.rmtree(work)
    process = repo.start("resume", run, "--json")
    do.wrote(repo, "there")
    assert identity(do, name)[0] != before[0]
    assert repo.head == head
    go(repo)
    process.stdout.read()
    assert process.wait(60) == 0
    finished(repo, do, run)


@pytest.mark.parametrize("how", [["rm", "--force"], ["kill"], ["stop"]], ids=["rm", "kill", "stop"])
def test_a1_what_somebody_does_to_a_container_costs_no_attempt(repo, do, how):
    """The only attempt goes on with a fresh worker, and what the first one left is kept."""
    repo.plan(PLAN, sandbox="docker", defaults={"limits": {"attempts": 1}})
    process = repo.start("run", "plan.yaml", "--yes", "--json")
    do.wrote(repo, "there")
    run = repo.status()["run_id"]
    (name,) = do.containers(run)
    before = identity(do, name)
    do.docker(*how, name)
    while before[0] in (alive := ids(do, run)) or not alive:
        assert process.poll() is None
    do.wrote(repo, "there")
    go(repo)
    process.stdout.read()
    assert process.wait(60) == 0
    finished(repo, do, run, rescued=True)
