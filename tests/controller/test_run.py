"""smoke"""
def test_smoke(world):
    world.plan({"A": {"writes": {"src/a.txt": "a"}}, "B": {"writes": {"src/b.txt": "b"}, "depends_on": ["A"]}})
    world.run("--yes", "--json").exits(0)
    assert world.states() == {"A": "done", "B": "done"}
    world.agrees()
    assert world.leftovers() == []
