"""The table of effects and the source speak of the same ones."""

import ast
from collections import defaultdict
from pathlib import Path

from packets.effects import EFFECTS, Reversal

ROOT = Path(__file__).resolve().parents[2]
ROOMS = ("controller", "worker", "reviewer", "sandbox", "packets")
PERMISSIONS = {"", "read", "write", "execute", "network", "land", "push"}
MOVERS = {"update_ref", "delete_ref", "update_worktree"}
"""What moves a ref or a checkout: each call stands inside an effect that says which."""


def calls() -> list[tuple[Path, ast.Call]]:
    """Every call in the product, with its file."""
    found = []
    for path in (path for room in ROOMS for path in (ROOT / room).rglob("*.py")):
        nodes = ast.walk(ast.parse(path.read_text()))
        found += [(path, node) for node in nodes if isinstance(node, ast.Call)]
    return found


def effects_by_place() -> dict[str, list[Path]]:
    used = defaultdict(list)
    for path, call in calls():
        if isinstance(call.func, ast.Name) and call.func.id == "effect":
            assert isinstance(call.args[0], ast.Constant), f"{path}:{call.lineno}: the name stands there literally"
            used[call.args[0].value].append(path)
    return used


def test_every_line_is_used_and_every_use_is_a_line():
    assert set(effects_by_place()) == set(EFFECTS)


def test_every_line_says_how_it_is_undone_and_what_tells_of_it():
    assert len(EFFECTS) > 60
    for one in EFFECTS.values():
        assert all((one.what, one.undone_by, one.intent, one.outcome)), one.name
        assert one.permission in PERMISSIONS, one.name


def test_what_cannot_be_undone_is_named():
    final = {one.name for one in EFFECTS.values() if one.reversal is Reversal.IRREVERSIBLE}
    assert final == {"hook.run", "push"}


def test_every_move_of_a_ref_or_a_checkout_is_an_effect():
    for path in (path for room in ROOMS[:3] for path in (ROOT / room).rglob("*.py")):
        tree = ast.parse(path.read_text())
        inside = {
            call
            for block in ast.walk(tree)
            if isinstance(block, ast.With) and any("effect(" in ast.unparse(item) for item in block.items)
            for call in ast.walk(block)
        }
        for call in ast.walk(tree):
            if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr in MOVERS:
                assert call in inside, f"{path}:{call.lineno}: {call.func.attr} outside of an effect"
