"""Merging once, in plan order, in memory; a conflict leads to a fresh attempt."""

import pytest

from controller.actions.merge import undo
from packets.events import Action, ActionKind

TWO = {"A": {"writes": {"src/a.txt": "a"}}, "B": {"writes": {"src/b.txt": "b"}}}


def test_merges_are_made_in_plan_order_whoever_was_first(world):
    world.plan({"Z": {"writes": {"src/z.txt": "z"}}, "A": {"writes": {"src/a.txt": "a"}}})
    world.run("--yes").exits(0)
    assert world.subjects()[:2] == ["Do A", "Do Z"], "newest first"
    assert [m for k, m in world.saga_done() if k == "merge"] == ["Z", "A"]


@pytest.mark.parametrize(
    ("point", "side", "nth"),
    [
        ("controller.context.Context.move_tip", "before", 2),
        ("controller.context.Context.move_tip", "after", 1),
        ("controller.context.Context.move_tip", "after", 2),
        ("controller.actions.merge._write_down", "after", 1),
        ("controller.actions.merge._merge", "after", 2),
    ],
)
def test_e8_a_crash_between_merge_and_record_merges_once(world, cut, point, side, nth):
    world.plan(TWO)
    with cut(point, side, nth):
        world.run("--yes")
    assert world.status()["state"] == "stopped"
    world.grace("resume").exits(0)
    assert sorted(world.subjects()[:2]) == ["Do A", "Do B"]
    assert world.subjects().count("Do A") == world.subjects().count("Do B") == 1
    assert world.types().count("merge.done") == 2
    world.agrees()
    assert world.leftovers() == []


def test_a_merge_that_no_longer_fits_leads_to_a_fresh_attempt_with_the_finding(world):
    """Nothing but a person at the base can clash with disjoint scopes: the moved base is merged in between phases."""
    world.scripts["work"] = lambda mounts, job: (mounts["/repo"] / "src/old.txt").write_text(f"{job.name}\n") and 0
    world.plan(
        {
            "A": {"writes": {"src/a.txt": "a"}, "phase": "one"},
            "B": {"run": "work", "write_scope": ["src/old.txt"], "phase": "two"},
        }
    )
    world.run("--profile", "safe").exits(4)
    for _ in range(2):
        world.grace("approve").exits(0)
        world.grace("resume").exits(4)
    assert world.states() == {"A": "done", "B": "waiting"}
    from controller import refnames

    with world.context() as ctx:  # the tip moves below B's accepted tree, as an undone neighbour's merge could do it
        tip = ctx.tip()
        blob = ctx.git.write_blob(b"other\n")
        from sandbox.git import Entry

        tree = ctx.git.write_tree(ctx.git.tree(tip), {"src/old.txt": Entry("100644", blob)})
        commit = ctx.git.commit(tree, [tip], f"other\n\nGrace-Run: {ctx.run_id}\n")
        ctx.git.update_ref(refnames.integration(ctx.run_id), commit, tip)
        ctx.records.add_step("sync", "", wave=0, phase="", before=tip, after=commit)
    world.grace("approve").exits(0)
    world.grace("resume").exits(4)
    assert "merge.conflict" in world.types()
    assert world.attempts()["B"] == 2
    packets = world.grace("packets", world.run_id, "B", "--json").json["packets"]
    assert packets[1]["base"]["commit"] == commit
    assert packets[1]["findings"][0]["code"] == "merge.conflict"
    assert "src/old.txt" in packets[1]["findings"][0]["message"]


RED = {
    "A": {"writes": {"src/a.txt": "a"}},
    "B": {"writes": {"src/b.txt": "b"}},
    "C": {"writes": {"src/c.txt": "c"}},
}


@pytest.mark.parametrize(
    ("point", "side"),
    [
        ("controller.context.Context.move_tip", "after"),
        ("controller.store.records.Records.replace_saga", "before"),
        ("controller.store.records.Records.replace_saga", "after"),
        ("controller.actions.merge.without", "after"),
    ],
)
def test_a_crash_while_a_merge_is_undone_keeps_saga_git_and_state_in_step(world, cut, point, side):
    """The commits of the innocent are known, also when the undoing was recorded by a life that is over."""
    world.scripts["not-both"] = lambda mounts, job: int(
        (mounts["/repo"] / "src/a.txt").exists() and (mounts["/repo"] / "src/b.txt").exists()
    )
    world.plan(
        {"X": {"writes": {"src/x.txt": "x"}}, **RED}, wave_checks=["not-both"], defaults={"limits": {"attempts": 1}}
    )
    nth = 5 if point.endswith("move_tip") else 1  # after the four merges
    with cut(point, side, nth):
        world.run("--yes")
    world.grace("resume").exits(1)
    assert world.states() == {"X": "asleep", "A": "asleep", "B": "failed", "C": "asleep"}
    world.agrees()
    assert world.leftovers() == []


def test_an_undo_takes_back_all_the_modules_that_it_names(world):
    """A module that failed after it was merged goes with those that were merged on top of it; the innocent stay."""
    world.plan(TWO | {"C": {"writes": {"src/c.txt": "c"}, "depends_on": ["A"]}})
    world.run("--profile", "fast").exits(4)
    with world.context() as ctx:
        action = Action(id="00099-undo", kind=ActionKind.UNDO, module="A", data={"modules": ["A", "C"]})
        event = undo(ctx, action, lambda _name, work: work())
        assert event.data["modules"] == ["A", "C"]
        assert event.data["attempts"] == {"A": 1, "C": 1}
        assert event.data["commits"].keys() == {"B"}
        left = {"src/a.txt", "src/b.txt", "src/c.txt"} & set(ctx.git.entries(event.data["tree"]))
        assert left == {"src/b.txt"}
        assert undo(ctx, action, lambda _name, work: work()) == event, "again changes nothing"
        alone = undo(ctx, action.model_copy(update={"module": "B", "data": {}}), lambda _name, work: work())
        assert (alone.data["modules"], alone.data["commits"]) == (["B"], {})


def test_an_accepted_tree_that_somebody_pruned_is_made_anew_when_told_so(world):
    world.plan({"A": {"writes": {"src/a.txt": "a"}}})
    world.run().exits(4)
    world.git("branch", "-q", "-D", f"grace/{world.run_id}/A/attempt-1")
    world.git("reflog", "expire", "--expire=now", "--all")
    world.git("gc", "-q", "--prune=now")
    world.grace("approve").exits(0)
    said = world.grace("resume").exits(1).out
    assert f"somebody deleted refs/heads/grace/{world.run_id}/A/attempt-1 and pruned it" in said
    assert f'grace say {world.run_id} A "again"' in said
    world.grace("say", world.run_id, "A", "again").exits(0)
    world.grace("resume").exits(4)
    world.grace("approve").exits(0)
    world.grace("resume").exits(4)
    world.grace("approve").exits(0)
    world.grace("resume").exits(0)
    assert world.show("src/a.txt", "main") == "a"
