"""A stored, granted approval as a value: what an irreversible effect wants to see."""

from dataclasses import InitVar, dataclass

from packets.errors import NotPermitted

SEAL = object()
"""What the store shows to make a permit (`Store.permit`); nobody else holds it, and a test sees to that."""


@dataclass(frozen=True)
class Permit:
    """Stands for one approval that is stored as granted: of which run, for what, bound to which key, given by whom."""

    run_id: str
    subject: str
    key: str
    granted_by: str
    seal: InitVar[object] = None

    def __post_init__(self, seal: object) -> None:
        """Refuse to be made by anybody but the store; raises NotPermitted."""
        if seal is not SEAL:
            raise NotPermitted(f"nobody but the store gives a permit for {self.subject}", "ask: Store.permit")
