"""What an attempt found out reaches the next one."""

import json


def test_the_next_packet_carries_what_the_attempt_before_decided(world):
    said = {
        "decisions": {
            "verified_facts": ["cents are ints"],
            "rejected_alternatives": ["floats\x1b[31m drift"] + ["x"] * 50,
        }
    }
    tries = iter(["README.md", "src/a.txt"])

    def work(mounts, _job):
        (mounts["/repo"] / next(tries)).write_text("x\n")
        (mounts["/grace/out"] / "report.json").write_text(json.dumps(said))
        return 0

    world.scripts["work"] = work
    world.plan({"A": {"run": "work", "write_scope": ["src/a.txt"]}})
    world.run("--yes").exits(0)
    first, second = world.grace("packets", "--json").json["packets"]
    assert first["decisions"] == {"rationale": [], "rejected": []}
    assert second["decisions"]["rationale"] == ["cents are ints"]
    assert second["decisions"]["rejected"][0] == "floats\\x1b[31m drift"
    assert len(second["decisions"]["rejected"]) <= 20
