"""From a plan file to a run: checked first, written down once, found again."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from controller.begin import Options, shape, submit
from packets.errors import UsageError
from sandbox.git import Git

TWO = {"A": {"writes": {"src/a.txt": "a"}}, "B": {"writes": {"src/b.txt": "b"}, "depends_on": ["A"]}}


def quiet(_text):
    pass


@pytest.mark.parametrize(
    ("given", "said"),
    [({"sandbox": "podman"}, "docker"), ({"profile": "reckless"}, "balanced"), ({"sandbox": ""}, "auto")],
)
def test_an_unknown_word_is_refused_with_the_known_ones(given, said):
    with pytest.raises(UsageError) as caught:
        Options(**given)
    assert said in caught.value.hint


@pytest.mark.parametrize(
    "args", [("--sandbox", "podman"), ("--profile", "reckless"), ("--max-workers", "0"), ("--bogus",)]
)
def test_a_wrong_option_is_exit_2_and_creates_nothing(world, args):
    world.plan(TWO)
    world.grace("run", "plan.yaml", *args).exits(2)
    assert not (world.path / ".git/grace/state.db").exists()


def test_a_folder_whose_name_is_no_text_is_refused_before_anything_is_made(world):
    world.plan(TWO)
    moved = world.path.with_name("re\udcffpo")
    world.path.rename(moved)
    code = "import os, sys; from controller.main import run; os.chdir(sys.argv[1]); sys.exit(run(['run', '--yes']))"
    done = subprocess.run(
        [sys.executable, "-c", code, moved], capture_output=True, check=False, cwd=Path(__file__).parent
    )
    moved.rename(world.path)
    assert done.returncode == 2, done.stderr
    assert b"no UTF-8 text: " in done.stderr
    assert not (world.path / ".git/grace/state.db").exists()


def test_nothing_runs_without_isolation_that_does_not_say_so_itself(world):
    world.plan(TWO)
    said = world.grace("run", "plan.yaml", "--sandbox", "host", "--yes").exits(2)
    assert "does not say `sandbox: host`" in said.err
    assert not (world.path / ".git/grace/state.db").exists()


def test_places_are_as_asked_else_one_a_core():
    import os

    assert Options(max_workers=7).places == 7
    assert Options().places == os.cpu_count()


def test_only_what_differs_from_the_beginning_is_said_not_to_count():
    settings = {"yes": False, "max_workers": 2, "profile": "safe", "engine": "docker"}
    assert Options().overruled(settings) == []
    assert Options(max_workers=2, profile="safe", sandbox="docker").overruled(settings) == []
    assert Options(sandbox="auto").overruled(settings) == []
    assert Options(yes=True, max_workers=3, profile="fast", sandbox="memory").overruled(settings) == [
        "yes", "max_workers", "profile", "engine",
    ]  # fmt: skip


@pytest.mark.parametrize("how", ["detached", "tag", "unknown", "empty"])
def test_b4_b5_where_nothing_can_land_nothing_begins(world, tmp_path, monkeypatch, how):
    world.plan(TWO, **({"base": "v1"} if how == "tag" else {"base": "nowhere"} if how == "unknown" else {}))
    if how == "detached":
        world.git("checkout", "-q", "--detach")
    if how == "tag":
        world.git("tag", "v1")
    if how == "empty":
        monkeypatch.chdir(tmp_path)
        subprocess.run(["git", "init", "-q", "."], check=True)
        Path("plan.yaml").write_text((world.path / "plan.yaml").read_text())
    said = world.grace("run", "plan.yaml", "--sandbox", "memory")
    assert said.code == 2
    assert said.err.strip()
    assert not (world.path / ".git/grace/state.db").exists()
    assert world.refs("refs/heads/grace") == {}


def test_a_detached_head_is_fine_where_the_plan_names_the_base(world):
    world.plan(TWO, base="main")
    world.git("checkout", "-q", "--detach")
    world.run("--yes").exits(0)
    assert "src/b.txt" in world.files("main")
    assert not (world.path / "src/b.txt").exists(), "what is checked out is not the branch"


def test_a_run_keeps_all_it_needs_to_be_carried_without_the_plan_file(world):
    world.plan(TWO)
    world.run("--profile", "fast").exits(4)
    (world.path / "plan.yaml").unlink()
    for patch in (world.path / "patches").iterdir():
        patch.write_text("spoiled")
    world.git("checkout", "-q", "--", ".")
    world.grace("approve").exits(0)
    world.grace("resume").exits(0)
    with world.store() as store:
        run = store.run(None)
    assert b'"name": "world"' in run.plan_text
    assert run.settings["engine"] == "memory"
    assert (world.path / ".git/grace/runs" / run.run_id / "agents" / "A.patch").is_file()


def test_the_shape_is_the_plans(world):
    world.plan(
        {**TWO, "C": {"writes": {"src/c.txt": "c"}, "optional": True, "phase": "two", "limits": {"attempts": 5}}},
        modules_map={"Old": ["src/old.txt"]},
    )
    with Git.discover(world.path) as git:
        run = submit(git, world.path / "plan.yaml", Options(sandbox="memory", max_workers=3), quiet).run
    made = shape(run)
    assert [(p.id, [w.modules for w in p.waves]) for p in made.phases] == [("one", [("A",), ("B",)]), ("two", [("C",)])]
    assert made.depends_on["B"] == ("A",)
    assert (made.optional, made.attempts["C"], made.max_workers, made.profile, made.yes) == (
        ("C",),
        5,
        3,
        "balanced",
        False,
    )


@pytest.mark.parametrize("new", [False, True])
def test_a_plan_that_is_known_is_found_and_new_begins_another(world, new):
    world.plan(TWO)
    with Git.discover(world.path) as git:
        first = submit(git, world.path / "plan.yaml", Options(sandbox="memory"), quiet)
        again = submit(git, world.path / "plan.yaml", Options(sandbox="memory", new=new), quiet)
    assert first.how == "new"
    assert again.how == ("new" if new else "resumed")
    assert (again.run.run_id == first.run.run_id) is not new


def test_a_changed_plan_or_another_base_is_another_run(world):
    world.plan(TWO)
    world.run("--profile", "fast").exits(4)
    first = world.run_id
    world.git("checkout", "-q", "-b", "side")
    world.run("--profile", "fast").exits(4)
    second = world.run_id
    world.plan({"A": TWO["A"]})
    world.run("--profile", "fast").exits(4)
    assert len({first, second, world.run_id}) == 3


def test_what_landed_and_was_taken_back_by_hand_is_run_again(world):
    world.plan(TWO)
    start = world.head
    world.run("--yes").exits(0)
    first = world.run_id
    world.git("reset", "-q", "--hard", start)
    world.run("--yes").exits(0)
    assert world.run_id != first


def test_the_plans_faults_are_all_said_and_nothing_is_created(world):
    world.plan({"A": {"writes": {"src/a.txt": "a"}, "depends_on": ["Nobody"]}, "B": {**TWO["B"], "bogus": 1}})
    said = world.run().exits(2)
    assert len([line for line in said.err.splitlines() if line.startswith("plan.yaml:")]) >= 2
    assert not (world.path / ".git/grace/state.db").exists()


def test_two_submissions_at_once_make_one_run(world):
    world.plan(TWO)
    command = [
        str(Path(sys.executable).with_name("grace")),
        "run",
        "plan.yaml",
        "--sandbox",
        "memory",
        "--yes",
        "--json",
    ]
    both = [
        subprocess.Popen(command, cwd=world.path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for _ in "ab"
    ]
    said = [process.communicate(timeout=120) for process in both]
    assert [process.returncode for process in both] == [0, 0], said
    with world.store() as store:
        (run,) = store.runs()
    last = [json.loads(out.splitlines()[-1]) for out, _ in said]
    assert [(line["type"], line["run_id"], line["state"]) for line in last] == [
        ("run.finished", run.run_id, "done")
    ] * 2
    assert world.types().count("run.started") == 1
    world.agrees()
    assert world.leftovers() == []


@pytest.mark.parametrize("how", ["gone", "empty"])
def test_a_run_that_begins_anew_because_the_state_is_lost_says_so(world, how):
    world.plan(TWO)
    assert "begins anew" not in world.run().exits(4).out
    state = world.path / ".git/grace/state.db"
    for side in ("-wal", "-shm"):
        state.with_name(state.name + side).unlink(missing_ok=True)
    state.unlink()
    if how == "empty":
        state.touch()
    said = world.run().exits(4)
    assert f"is {how}, and runs left folders beside it; this run begins anew" in said.out
