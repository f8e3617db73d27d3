"""All gates, in the order they run."""

from reviewer.gate import Gate
from reviewer.gates.checks import ChecksGate
from reviewer.gates.claims import ClaimsGate
from reviewer.gates.graph import GraphGate
from reviewer.gates.integrity import IntegrityGate
from reviewer.gates.markers import MarkersGate
from reviewer.gates.outcomes import OutcomesGate
from reviewer.gates.proof import ProofGate
from reviewer.gates.scope import ScopeGate
from reviewer.gates.secrets import SecretsGate
from reviewer.gates.tests import TestsGate
from reviewer.gates.worker import WorkerGate

GATES: tuple[Gate, ...] = (
    WorkerGate(),
    ScopeGate(),
    IntegrityGate(),
    SecretsGate(),
    GraphGate(),
    TestsGate(),
    ChecksGate(),
    OutcomesGate(),
    MarkersGate(),
    ProofGate(),
    ClaimsGate(),
)

REVIEW_CODES = {"review.not_run": "costly gates did not run, because cheaper ones had found errors; not passed"}


def codes() -> dict[str, tuple[str, str]]:
    """Return every code with its gate and meaning; `<gate>.broken` stands for a gate that could not judge."""
    found = {code: (gate.name, meaning) for gate in GATES for code, meaning in gate.codes.items()}
    for gate in GATES:
        found[f"{gate.name}.broken"] = (gate.name, "the gate itself failed: missing evidence, so not passed")
    return found | {code: ("review", meaning) for code, meaning in REVIEW_CODES.items()}
