"""The commit messages that grace writes: a subject for people, trailers for machines."""

from packets.packet import ExecutionPacket


def attempt_message(packet: ExecutionPacket) -> str:
    """Return the message of an attempt's own tree."""
    return f"{packet.module_id}: attempt {packet.attempt}\n\n{_trailers(packet)}"


def merge_message(packet: ExecutionPacket, verdict: str) -> str:
    """Return the message under which a module reaches the integration branch, and with it the user's."""
    subject = packet.purpose.strip().splitlines()[0]
    if len(subject) > 72:  # noqa: PLR2004 - where git tools fold a subject
        subject = subject[:69].rstrip() + "..."
    return f"{subject}\n\nModule {packet.module_id} of the plan.\n\n{_trailers(packet)}Grace-Verdict: {verdict}\n"


def _trailers(packet: ExecutionPacket) -> str:
    return (
        f"Grace-Run: {packet.run_id}\nGrace-Module: {packet.module_id}\n"
        f"Grace-Attempt: {packet.attempt}\nGrace-Packet: {packet.packet_id}\n"
    )


def revert_message(what: str, run_id: str, commit: str) -> str:
    """Return the message of a revert after a landing."""
    return f"Revert {what}\n\nUndoes {commit}, landed by grace.\n\nGrace-Run: {run_id}\nGrace-Reverts: {commit}\n"


def sync_message(run_id: str, base: str) -> str:
    """Return the message of the merge that takes in a base that moved."""
    return f"Merge the base that moved to {base[:12]}\n\nGrace-Run: {run_id}\n"
