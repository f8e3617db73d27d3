"""What a person reads before a yes shows all that is there."""

from controller.difference import difference
from sandbox.git import Git

HIDING = "ok\n\x1b[8msecret\x1b[0m\r\u202eFAKE\n+++ b/other\n"


def test_a_terminal_finds_no_orders_in_a_difference(world):
    before = world.tree()
    world.commit({"src/a.txt": HIDING})
    with Git.discover(world.path) as git:
        plain = difference(git, before, world.tree())
        shown = difference(git, before, world.tree(), color=True)
    assert "\x1b" not in plain
    assert "+\\x1b[8msecret\\x1b[0m\\r\\u202eFAKE" in plain.splitlines()
    assert "\x1b[32m+++++ b/other\x1b[m" in shown.splitlines() or "\x1b[32m++++ b/other\x1b[m" in shown.splitlines()
    assert "\x1b[1m+++ b/src/a.txt\x1b[m" in shown.splitlines()
    assert "\x1b[8m" not in shown
