"""What people say reaches a running worker as a file; what it does not hear, the next packet tells."""

from contextlib import suppress

from controller.context import Context
from controller.kernel import RunState
from packets.events import Event
from sandbox.effect import effect
from sandbox.workspace import hand_in
from worker.attempt import workspace_of


def deliver(ctx: Context, event: Event, state: RunState) -> None:
    """Lay the message into the workspace of each worker that runs and has not heard it; harmless where none can."""
    message, told = str(event.data["id"]), event.data["text"]
    for module, status in state.modules.items():
        if not status.running or message not in status.unread:
            continue
        record = ctx.records.attempt(module, status.attempt)
        workspace = workspace_of(record.packet, ctx.git) if record else None
        if workspace is not None:
            with suppress(OSError), effect("message.hand_in"):  # a help: the next packet has it in any case
                hand_in(workspace, f"message-{message}", f"{told}\n")
