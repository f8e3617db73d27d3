"""The same plan more than once: attached to, beside each other, one after the other."""

import json

SLOW = {"A": {"shell": "sleep 4; echo x > src/a.txt", "write_scope": ["src/a.txt"]}}
PATCH = """\
diff --git a/src/a.txt b/src/a.txt
new file mode 100644
--- /dev/null
+++ b/src/a.txt
@@ -0,0 +1 @@
+x
"""


def started(process):
    """Read events until the run's id is known."""
    for line in process.stdout:
        if run := json.loads(line).get("run_id"):
            return run
    raise AssertionError("no event names the run")


def test_a_second_run_of_a_live_plan_attaches(repo):
    repo.plan(SLOW)
    first = repo.start("run", "plan.yaml", "--yes", "--json")
    run = started(first)
    second = repo.grace("run", "plan.yaml", "--yes").exits(0)
    assert run in second.said
    assert "attach" in second.said
    first.stdout.read()
    assert first.wait(timeout=60) == 0
    assert len(repo.git("log", "--format=%H", "--grep", "Grace-Module: A").split()) == 1
    assert repo.leftovers() == []


def test_two_at_the_same_moment_are_one_run(repo):
    repo.plan(SLOW)
    both = [repo.start("run", "plan.yaml", "--yes") for _ in range(2)]
    said = [process.communicate(timeout=120)[0] for process in both]
    assert [process.returncode for process in both] == [0, 0], said
    assert len(list(repo.path.glob(".git/grace/runs/*"))) == 1
    assert sum("attach" in text for text in said) == 1
    assert repo.leftovers() == []


def test_new_runs_beside_it(repo):
    repo.plan(SLOW)
    first = repo.start("run", "plan.yaml", "--yes", "--json")
    run = started(first)
    second = repo.grace("run", "plan.yaml", "--yes", "--new", "--json").exits(0)
    other = second.events[-1]["run_id"]
    assert other != run
    first.stdout.read()
    assert first.wait(timeout=60) == 0
    for run_id in (run, other):
        assert {m["state"] for m in repo.status(run_id)["modules"]} == {"done"}
    assert repo.show("src/a.txt") == "x"
    assert repo.git("status", "--porcelain", "-uno") == ""
    assert repo.leftovers() == []


def test_r10_the_same_plan_on_the_same_commit_gives_the_same_packets(repo, tmp_path):
    repo.commit("a patch", {"a.diff": PATCH})
    plan = {"A": {"agent": "gold", "write_scope": ["src/a.txt"]}}
    repo.plan(plan, agents={"gold": {"kind": "patch", "patch": "a.diff"}})
    repo.git("clone", "-q", ".", str(tmp_path / "again"))
    again = type(repo)(tmp_path / "again")
    packets: list[list[str]] = []
    trees = []
    for where in (repo, again):
        run = where.grace("run", "plan.yaml", "--yes", "--json").exits(0).events[-1]["run_id"]
        packets.append([p["packet_id"] for p in where.grace("packets", run, "--json").exits(0).json["packets"]])
        trees.append(where.tree())
    assert packets[0] == packets[1] != []
    assert trees[0] == trees[1]


def test_running_again_what_is_done_changes_nothing(repo):
    repo.commit("a patch", {"a.diff": PATCH})
    repo.plan(
        {"A": {"agent": "gold", "write_scope": ["src/a.txt"]}}, agents={"gold": {"kind": "patch", "patch": "a.diff"}}
    )
    run = repo.grace("run", "plan.yaml", "--yes", "--json").exits(0).events[-1]["run_id"]
    head = repo.head
    repo.grace("resume", run).exits(0)
    repo.grace("run", "plan.yaml", "--yes")
    assert repo.tree() == repo.tree(head)
    assert repo.leftovers() == []


def test_d2_reads_go_on_while_a_run_writes(repo):
    repo.plan({f"M{n}": {"shell": f"echo x > src/{n}.txt", "write_scope": [f"src/{n}.txt"]} for n in range(12)})
    first = repo.start("run", "plan.yaml", "--yes", "--json")
    run = started(first)
    reads = 0
    while first.poll() is None and reads < 30:
        for command in (["status", run, "--json"], ["packets", run, "--json"], ["review", run, "--json"]):
            repo.grace(*command, timeout=20).exits(0)
            reads += 1
    first.stdout.read()
    assert first.wait(timeout=120) == 0
    assert reads >= 3
