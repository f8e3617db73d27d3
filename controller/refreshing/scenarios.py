"""The scenarios that modules promise, looked for where they should be before they are looked for everywhere."""

from collections.abc import Mapping, Sequence

from controller.context import Context
from controller.graph.drift import scenarios_of
from packets.plan import Module
from packets.scope import Scope
from reviewer.compare import compare_tests
from reviewer.names import meant_id
from reviewer.paths import holds_scenarios
from sandbox.git import Entry

_MODES = ("100644", "100755")


def scenarios_in(ctx: Context, modules: Sequence[Module], entries: Mapping[str, Entry]) -> frozenset[str]:
    """Return ids of tests of the tree, as many as it takes to find what the modules promise."""
    wanted = [name for module in modules for name in scenarios_of(module)]
    if not wanted:
        return frozenset()
    tests = {path: entry.blob for path, entry in entries.items() if entry.mode in _MODES and holds_scenarios(path)}
    scopes = [Scope.parse(module.write_scope) for module in modules]
    near = {path: blob for path, blob in tests.items() if any(scope.matches(path) for scope in scopes)}
    found = frozenset(compare_tests({}, near, ctx.git.blobs).added_ids)
    if all(any(meant_id(name, each) for each in found) for name in wanted):
        return found
    rest = {path: blob for path, blob in tests.items() if path not in near}
    return found | frozenset(compare_tests({}, rest, ctx.git.blobs).added_ids)
