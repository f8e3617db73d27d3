"""`grace sandbox build|list|prune`: worker images."""

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(help="Build, list and prune worker images.", no_args_is_help=True)

Json = Annotated[bool, typer.Option("--json", help="Print JSON, as docs/json.md describes it.")]


@app.command()
def build(
    plan: Annotated[
        Path | None, typer.Argument(help="Build what this plan asks for; default: the usual image.")
    ] = None,
    engine: Annotated[str | None, typer.Option("--sandbox", help="auto, docker or bubblewrap.")] = None,
    as_json: Json = False,
) -> None:
    """Make the worker image now, so that no run has to wait for it."""
    from packets.errors import UsageError
    from packets.plan import Image
    from sandbox.choose import choose, close
    from sandbox.image import ensure_image

    image, wanted, folder = Image(), "auto", Path.cwd()
    if plan is not None:
        from controller.plan.load import load_plan

        loaded = load_plan(plan)
        image, wanted, folder = loaded.plan.image, str(loaded.plan.sandbox), loaded.path.absolute().parent
    wanted = engine or wanted
    if wanted not in {"auto", "docker", "bubblewrap"}:
        raise UsageError(f"{wanted!r} has no images", "ask for auto, docker or bubblewrap")
    choice = choose(wanted)
    try:
        _say(choice.why, as_json)
        made = ensure_image(image, choice.sandbox, folder, progress=lambda text: _say(text, as_json))
        if as_json:
            sys.stdout.write(json.dumps({"sandbox": choice.sandbox.name, **made._asdict()}) + "\n")
        else:
            sys.stdout.write(f"{made.ref}\n")
    finally:
        close(choice.sandbox)


@app.command("list")
def list_(as_json: Json = False) -> None:
    """List the images that grace made on this machine."""
    from sandbox.image_list import listed

    found = listed()
    if as_json:
        sys.stdout.write(json.dumps({"images": [one._asdict() for one in found]}) + "\n")
        return
    for one in found:
        sys.stdout.write(f"{one.engine:<11}{one.name:<36}{one.size >> 20:>6} MiB  {one.origin}\n")


@app.command()
def prune(
    everything: Annotated[bool, typer.Option("--all", help="Also the usual one.")] = False,
    as_json: Json = False,
) -> None:
    """Remove all images but the usual one; what a plan needs is made again. One that a job runs on is kept."""
    from sandbox.image_list import prune as remove

    gone = remove(everything=everything)
    if as_json:
        sys.stdout.write(json.dumps({"removed": [one._asdict() for one in gone]}) + "\n")
        return
    for one in gone:
        sys.stdout.write(f"removed {one.engine} {one.name} ({one.size >> 20} MiB)\n")


def _say(text: str, as_json: bool) -> None:
    (sys.stderr if as_json else sys.stdout).write(text + "\n")
