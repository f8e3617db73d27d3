"""What a drift suggests: patches that git and patch(1) take, against the plan as its user wrote it."""

import subprocess

PLAN = """\
# The shop. Comments and layout are ours.
version: 1
name: shop
modules_map:
  Pricing/Money: [app/money.py]   # there already
  Pricing/Tax: [app/tax.py]
  Old: [app/old.py]
  Moved: ["app/here.py"]
agents:
  engine: {kind: patch, patch: engine.diff}
phases:
  - id: one
    modules:
      - id: Engine   # the heart of it
        purpose: Add the engine
        agent: engine
        depends_on:
          - Pricing/Money
          - Pricing/Tax   # for later
        write_scope: [app/engine/, tests/test_engine.py]
        verification:
          module_local_checks: ["python3 -m pytest -q tests"]
          required_markers: ["[E][GUARD]"]
        expected_deltas:
          verification: [add scenario guard_of_the_engine]   # one
"""
ENGINE = "from app.money import Money\n\n\ndef run():\n    print('[E][GUARD]')\n    return Money\n"
TEST = "from app.engine.core import run\n\n\ndef test_guard_of_the_engine():\n    assert run()\n"
SMALL = PLAN.partition("        verification:")[0]
THERE = {
    "app/money.py": "class Money: pass\n", "app/tax.py": "def tax(): pass\n", "app/old.py": "x = 1\n",
    "app/here.py": "def moved(): pass\n",
}  # fmt: skip


def patched(world, text):
    """Take a patch with both tools, each in a copy of the plan; both come to the same."""
    before = (world.path / "plan.yaml").read_bytes()
    subprocess.run(["git", "apply"], cwd=world.path, input=text.encode(), check=True)
    applied = (world.path / "plan.yaml").read_bytes()
    (world.path / "plan.yaml").write_bytes(before)
    subprocess.run(["patch", "-p1", "-s"], cwd=world.path, input=text.encode(), check=True)
    assert (world.path / "plan.yaml").read_bytes() == applied
    return applied.decode()


def shop(world, plan):
    """Commit a shop and its plan, whose one agent brings the engine."""
    world.commit(THERE, "code")
    world.write({"app/engine/core.py": ENGINE, "tests/test_engine.py": TEST})
    world.git("add", "-A")
    diff = world.git("diff", "--cached") + "\n"
    world.git("reset", "-q", "--hard")
    (world.path / "engine.diff").write_text(diff)
    (world.path / "plan.yaml").write_bytes(plan.encode())
    world.commit(message="plan")


def test_each_kind_of_drift_says_what_to_do_and_what_plan_would_settle_it(world):
    shop(world, PLAN)
    world.grace("run", "plan.yaml", "--yes", "--sandbox", "bubblewrap").exits(0)
    world.git("rm", "-q", "app/old.py")
    world.git("mv", "app/here.py", "app/there.py")
    world.write(
        {
            "app/engine/core.py": "from app.money import Money\nimport app.engine.more\n",
            "app/engine/more.py": "",
            "tests/test_engine.py": TEST.replace("the_engine", "the_engines"),
            "app/stray.py": "y = 1\n",
        }
    )
    world.commit(message="behind its back")
    report = world.grace("refresh", "--full", "--no-checks", "--json").exits(0).json
    found = {(d["kind"], d["module"] or d["path"], d["subject"]): d for d in report["drift"]}
    assert found.keys() == {
        ("orphan_module", "Old", ""), ("orphan_module", "Moved", ""), ("stale_edge", "Engine", "Pricing/Tax"),
        ("missing_scenario", "Engine", "guard_of_the_engine"), ("missing_marker", "Engine", "[E][GUARD]"),
        *(("unplanned_file", path, path) for path in ("app/here.py", "app/old.py", "app/stray.py", "app/there.py")),
    }  # fmt: skip
    assert all(d["todo"] for d in report["drift"])
    marker = found["missing_marker", "Engine", "[E][GUARD]"]
    assert (marker["patch"], marker["path"]) == ("", "app/engine/core.py")
    assert "no change of the plan makes up for it" in marker["todo"]
    before = {p["message"] for p in world.grace("plan", "check", "plan.yaml", "--json").exits(2).json}
    for key, drift in found.items():
        if key[0] != "missing_marker":
            patched(world, drift["patch"])
            wrong = {p["message"] for p in world.grace("plan", "check", "plan.yaml", "--json").json}
            assert wrong < before if key[0] == "orphan_module" else wrong == before  # those of the two that are gone
            (world.path / "plan.yaml").write_text(PLAN)
    lines = [
        line
        for line in found["missing_scenario", "Engine", "guard_of_the_engine"]["patch"].splitlines()
        if line[0] in "+-"
    ]
    assert lines[2:] == [
        "-          verification: [add scenario guard_of_the_engine]   # one",
        "+          verification: [add scenario guard_of_the_engines]   # one",
    ]

    said = world.grace("refresh", "--patch").exits(0).out
    assert said == report["patch"]
    after = patched(world, said)
    world.grace("plan", "check", "plan.yaml").exits(0)
    assert set(PLAN.splitlines()) - set(after.splitlines()) == {
        "  Old: [app/old.py]", '  Moved: ["app/here.py"]', "          - Pricing/Tax   # for later",
        "        write_scope: [app/engine/, tests/test_engine.py]",
        "          verification: [add scenario guard_of_the_engine]   # one",
    }  # fmt: skip
    assert '  Moved: ["app/there.py"]' in after
    (world.path / "plan.yaml").write_text(PLAN)
    words = world.grace("refresh", "--full", "--no-checks").exits(0).out
    assert "      -          - Pricing/Tax   # for later" in words
    assert "      do: log [E][GUARD]" in words


def test_a_new_edge_is_declared_unless_that_would_be_a_cycle(world):
    world.commit({"app/a.py": "", "app/b.py": "", "app/m.py": ""})
    world.plan(
        {
            "A": {"changes": {"app/a.py": ("", "x = 1\n")}},
            "B": {"changes": {"app/b.py": ("", "y = 1\n")}, "depends_on": ["A"]},
        },
        modules_map={"M": ["app/m.py"]},
    )
    world.run("--yes").exits(0)
    world.commit({"app/a.py": "import app.m\nimport app.b\n", "app/b.py": "import app.a\n"})
    drift = world.grace("refresh", "--module", "A", "--no-checks", "--json").exits(0).json["drift"]
    edges = {d["subject"]: d for d in drift if d["kind"] == "unplanned_edge"}
    assert {name: (d["path"], d["line"]) for name, d in edges.items()} == {"M": ("app/a.py", 1), "B": ("app/a.py", 2)}
    assert "depend on each other" in edges["B"]["todo"]
    assert edges["B"]["patch"] == ""
    assert '"M"' in patched(world, edges["M"]["patch"])
    world.grace("plan", "check", "plan.yaml").exits(0)


def test_the_plan_on_disk_counts_as_long_as_it_is_one(world):
    shop(world, SMALL)
    world.run("--yes").exits(0)
    spot = world.path / "plan.yaml"
    for text in (SMALL.replace("Add the engine", "Add the motor"), None, "no: plan\n"):
        spot.unlink() if text is None else spot.write_text(text)
        said = world.grace("refresh", "--patch").exits(0).out
        assert "-          - Pricing/Tax   # for later" in said
        if text is None or "engine" not in text:
            spot.write_text(SMALL)
        assert "Pricing/Tax   #" not in patched(world, said)


def test_the_line_endings_of_the_plan_stay(world):
    shop(world, SMALL.replace("\n", "\r\n"))
    world.run("--yes").exits(0)
    patched(world, world.grace("refresh", "--patch").exits(0).out)
    after = (world.path / "plan.yaml").read_bytes()
    assert after.count(b"\r\n") == after.count(b"\n") == SMALL.count("\n") - 1


def test_a_plan_that_was_named_from_a_folder_further_in_is_found(world, monkeypatch):
    shop(world, SMALL)
    world.git("mv", "plan.yaml", "engine.diff", "src/")
    world.commit(message="it lies further in")
    monkeypatch.chdir(world.path / "src")
    world.run("--yes").exits(0)
    said = world.grace("refresh", "--full", "--no-checks", "--json").exits(0).json
    assert [d["kind"] for d in said["drift"]] == ["stale_edge"], "the plan is no unplanned file"
    assert said["patch"].startswith("--- a/src/plan.yaml\n")
    subprocess.run(["git", "apply"], cwd=world.path, input=said["patch"].encode(), check=True)
    assert "Pricing/Tax   #" not in (world.path / "src/plan.yaml").read_text()
