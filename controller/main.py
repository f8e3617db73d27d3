"""The way in. What needs no command line parser gets none: `--version` and `status` load only what they use."""

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from packets.errors import GraceError

VERSION = "0.1.0"


def main() -> None:
    """Run the command line and exit; the one place where errors become exit codes."""
    sys.exit(run(sys.argv[1:]))


def run(args: list[str]) -> int:
    """Run one command and return its exit code."""
    from packets.errors import GraceError
    from sandbox.effect import check_crash_point

    try:
        check_crash_point()
        return _dispatch(args)
    except GraceError as fault:
        return _say(fault)
    except KeyboardInterrupt:
        sys.stderr.write("grace: interrupted\n")
        return 130
    except BrokenPipeError:  # the reader of a pipe has seen enough
        sys.stderr.close()
        return 0
    except Exception as fault:
        if known := _machines(fault):
            return _say(known)
        raise


def _machines(fault: Exception) -> "GraceError | None":
    """Return what the machine, or a damaged state, has to do with a fault that nobody expected; None: it is ours."""
    from controller.examination import damaged_state, state_folder
    from sandbox.faults import machine

    return machine(fault, state_folder()) or damaged_state()


def _dispatch(args: list[str]) -> int:
    if args == ["--version"]:
        sys.stdout.write(f"grace {VERSION}\n")
        return 0
    if args[:1] == ["status"]:
        from controller.status import quick

        code = quick(args[1:])
        if code is not None:
            return code
    from controller.cli.app import invoke

    return invoke(args)


def _say(fault: object) -> int:
    from packets.errors import GraceError, PlanInvalid

    if isinstance(fault, PlanInvalid):
        for problem in fault.problems:
            sys.stderr.write(problem.text() + "\n")
        return fault.exit_code
    if isinstance(fault, GraceError):
        sys.stderr.write(f"grace: {fault.message}\n")
        if fault.hint:
            sys.stderr.write(f"  hint: {fault.hint}\n")
        return fault.exit_code
    raise TypeError(fault)
