"""One module of a small repository, changed: what it was to do, what it did, what it did besides."""

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from packets.deltas import GraphDelta
from packets.graph import GraphReport
from packets.packet import Base, ExecutionPacket
from packets.plan import Plan


@pytest.fixture
def report(repo: Any, plan: Callable[..., Plan]) -> Callable[..., GraphReport]:
    """Compare a base with its change, for a module of a scope that may use what `uses` names, in real trees."""

    def made(
        base: Mapping[str, str],
        change: Mapping[str, str | None],
        *expected: str,
        scope: tuple[str, ...],
        uses: tuple[str, ...] = (),
        known: Mapping[str, list[str]],
    ) -> GraphReport:
        from controller.compose import AgentChoice, PacketDeltas

        module = {
            "id": "Change", "write_scope": list(scope), "depends_on": list(uses),
            "expected_deltas": {"graph": list(expected)},
        }  # fmt: skip
        whole = plan([module], known)
        trees = [repo.tree(base), repo.tree({p: t for p, t in {**base, **change}.items() if t is not None})]
        packet = ExecutionPacket(
            run_id="r", phase="p", wave=1, attempt=1, base=Base(commit="c", tree=trees[0]), plan_digest="d",
            module_id="Change", purpose="test", write_scope=scope,
            expected_deltas=PacketDeltas(graph=expected), agent=AgentChoice(name="a", spec=whole.agents["a"]),
        )  # fmt: skip
        found: GraphReport = repo.knowledge.compare(whole, packet, *trees, GraphDelta())
        return found

    return made
