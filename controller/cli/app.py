"""The command line: every verb in one place, each built in a file of its own and loaded when it is called."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from controller.main import VERSION

HELP = """Many coding agents build one plan in a real repository, each in a sealed sandbox.

Exit codes: 0 done, 1 the work failed, 2 wrong usage or plan, 3 the machine lacks something, 4 waits for a person."""

app = typer.Typer(
    help=HELP, no_args_is_help=True, rich_markup_mode=None, add_completion=False, pretty_exceptions_enable=False
)

PlanPath = Annotated[Path, typer.Argument(help="The plan file.")]
Run = Annotated[
    str | None, typer.Argument(metavar="RUN", help="The run's id or a unique beginning of it; default: the newest.")
]
TheRun = Annotated[str, typer.Argument(metavar="RUN", help="The run's id or a unique beginning of it.")]
Module = Annotated[str | None, typer.Argument(metavar="MODULE", help="The module's id.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON, as docs/json.md describes it.")]
Detach = Annotated[bool, typer.Option("--detach", help="Go on in the background; print the run's id.")]
Yes = Annotated[bool, typer.Option("--yes", help="Answer merges and landings with yes.")]


def invoke(args: list[str]) -> int:
    """Run the command line; usage errors are click's own exit 2."""
    from controller.cli.mount import mount

    mount(app, args[:1])
    command = typer.main.get_command(app)
    try:
        result = command.main(args=args, prog_name="grace", standalone_mode=False)
    except Exception as fault:  # noqa: BLE001 - sorted out there; what is not click's is raised again
        return _usage(fault)
    return result if isinstance(result, int) else 0


def _usage(fault: Exception) -> int:
    """Print what the parser says of a wrong command line; let everything else through."""
    if isinstance(fault, typer.Abort):
        sys.stderr.write("grace: interrupted\n")
        return 130
    if not isinstance(fault, _parser_error()):
        raise fault
    fault.show()  # type: ignore[attr-defined]
    return 2


def _parser_error() -> type[Exception]:
    """Return the base of the parser's own errors: click's, which newer typers carry inside themselves."""
    return next(c for c in typer.BadParameter.__mro__ if c.__name__ == "ClickException")


def _version(wanted: bool) -> None:
    if wanted:
        sys.stdout.write(f"grace {VERSION}\n")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version.", is_eager=True, callback=_version)
    ] = False,
) -> None:
    del version


@app.command()
def run(
    plan: PlanPath = Path("plan.yaml"),
    yes: Yes = False,
    as_json: Json = False,
    new: Annotated[bool, typer.Option("--new", help="Start another run beside one of the same plan.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print the first packets; create nothing.")] = False,
    max_workers: Annotated[int | None, typer.Option(min=1, help="Workers at once; default: one a core.")] = None,
    sandbox: Annotated[
        str | None, typer.Option(help="auto, docker, bubblewrap, memory; host if the plan says so.")
    ] = None,
    profile: Annotated[str | None, typer.Option(help="safe, balanced or fast.")] = None,
    detach: Detach = False,
) -> int:
    """Build a plan: run its modules, review, merge, refresh, land."""
    from controller.begin import Options
    from controller.cli import run as command

    options = Options(yes=yes, new=new, max_workers=max_workers, sandbox=sandbox, profile=profile)
    if dry_run:
        return command.dry_run(plan, options, as_json=as_json)
    return (command.detached if detach else command.run)(plan, options, as_json=as_json)


@app.command()
def resume(wanted: Run = None, as_json: Json = False, detach: Detach = False) -> int:
    """Carry a run on that stands still: after a crash, a pause, an approval."""
    from controller.cli import run as command

    return (command.resume_detached if detach else command.resume)(wanted, as_json=as_json)


@app.command()
def watch(wanted: Run = None, as_json: Json = False) -> int:
    """Look at a run that is carried elsewhere, and answer what it asks; q leaves it as it is."""
    from controller.cli.watch import watch as command

    return command(wanted, as_json=as_json)


@app.command()
def status(wanted: Run = None, as_json: Json = False) -> None:
    """Show how a run stands."""
    from controller.status import show

    show(wanted, as_json=as_json)


@app.command()
def packets(wanted: Run = None, module: Module = None, as_json: Json = False) -> None:
    """Print the packets that workers were given."""
    from controller.cli import look

    look.packets(wanted, module, as_json=as_json)


@app.command()
def review(
    wanted: Run = None,
    module: Module = None,
    diff: Annotated[bool, typer.Option("--diff", help="Only the differences.")] = False,
    stat: Annotated[bool, typer.Option("--stat", help="Only the sizes of the differences.")] = False,
    as_json: Json = False,
) -> None:
    """Show diff, deltas (expected, claimed, actual) and findings of each module's last attempt."""
    from controller.cli import look

    look.review(wanted, module, "diff" if diff else "stat" if stat else "json" if as_json else "all")


@app.command()
def events(
    wanted: Run = None,
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Go on until the run stands still.")] = False,
    as_json: Json = False,
) -> None:
    """Print what happened, in order."""
    from controller.cli import look

    look.events(wanted, follow=follow, as_json=as_json)


@app.command()
def approve(wanted: Run = None, subject: Annotated[str | None, typer.Argument(metavar="SUBJECT", help="What waits, as `grace status` names it; default: the only open question.")] = None) -> None:  # fmt: skip  # noqa: E501
    """Say yes to what a run asks. It counts at once, or when the run is carried on."""
    from controller.cli import people

    people.approve(wanted, subject)


@app.command()
def reject(
    wanted: Run = None,
    subject: Annotated[str | None, typer.Argument(metavar="SUBJECT", help="As for approve; or one module.")] = None,
    reason: Annotated[str, typer.Option(help="What the next attempt is told.")] = "",
    final: Annotated[bool, typer.Option("--final", help="No further attempt: the module has failed.")] = False,
) -> None:
    """Say no: the module is tried again with the reason, or ends with --final."""
    from controller.cli import people

    people.reject(wanted, subject, reason, final=final)


@app.command()
def say(
    wanted: TheRun,
    words: Annotated[list[str], typer.Argument(metavar="[MODULE] TEXT", help="For one module, or for all.")],
) -> None:
    """Say something to a module: its next attempt hears it, and one that is asleep wakes."""
    from controller.cli.say import say as command

    command(wanted, words)


@app.command()
def pause(wanted: Run = None) -> None:
    """Stop a run; `grace resume` carries it on."""
    from controller.cli import people

    people.pause(wanted)


@app.command()
def cancel(
    wanted: Run = None,
    rollback: Annotated[bool, typer.Option("--rollback", help="Take back what it merged and landed, too.")] = False,
) -> int:
    """End a run; nothing more of it lands, what was made is kept."""
    from controller.cli import people

    return people.cancel(wanted, rollback=rollback)


@app.command()
def rollback(
    wanted: TheRun,
    to: Annotated[str, typer.Option(help="start, phase:ID or wave:N: as it was when that began.")] = "",
    module: Annotated[str, typer.Option(help="Only this module and what depends on it.")] = "",
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would be undone, and how.")] = False,
    as_json: Json = False,
) -> int:
    """Undo merges in reverse; what has landed is undone by revert commits."""
    from controller.cli import undo

    return undo.rollback(wanted, to=to, module=module, dry_run=dry_run, as_json=as_json)


@app.command()
def refresh(
    wanted: Run = None,
    module: Annotated[str, typer.Option(help="One module.")] = "",
    wave: Annotated[int | None, typer.Option(help="One wave.")] = None,
    phase: Annotated[str, typer.Option(help="One phase.")] = "",
    full: Annotated[bool, typer.Option("--full", help="Everything.")] = False,
    no_cache: Annotated[bool, typer.Option("--no-cache", help="Parse every file again.")] = False,
    checks: Annotated[bool, typer.Option("--checks/--no-checks", help="Run the level's checks too.")] = True,
    watch: Annotated[bool, typer.Option("--watch", help="Again whenever something moves; q ends it.")] = False,
    patch: Annotated[bool, typer.Option("--patch", help="Only the suggested changes of the plan, as a patch.")] = False,
    as_json: Json = False,
) -> int:
    """Bring graph and verification in line with the tree, and report drift."""
    from controller.cli import refresh as command

    how = command.How(no_cache=no_cache, checks=checks, watch=watch, patch=patch, as_json=as_json)
    return command.refresh(wanted, command.Scope(module=module, wave=wave, phase=phase, full=full), how)


@app.command()
def clean(
    wanted: Annotated[str | None, typer.Argument(metavar="RUN", help="The run; default: every finished one.")] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Drop rescue refs and unfinished runs too; needs the id.")
    ] = False,
) -> int:
    """Drop finished runs' history; content that nobody accepted is kept unless --force names the run."""
    from controller.cli import undo

    return undo.clean(wanted, force=force)


@app.command()
def gates(as_json: Json = False) -> None:
    """List the reviewer's gates and their codes."""
    from controller.cli.gates import gates as command

    command(as_json)


@app.command()
def doctor(
    as_json: Json = False,
    effects: Annotated[bool, typer.Option("--effects", help="List what grace does, and how it is undone.")] = False,
) -> int:
    """Check what this machine has, and say what to do."""
    from controller.cli import doctor as command

    return command.effects(as_json) if effects else command.doctor(as_json)


@app.command()
def init(
    path: Annotated[Path, typer.Argument(help="The plan file to write.")] = Path("plan.yaml"),
    force: Annotated[bool, typer.Option("--force", help="Overwrite a file that exists.")] = False,
) -> None:
    """Write a commented starter plan that fits this repository."""
    from controller.cli.init import init as command

    command(path, force)
