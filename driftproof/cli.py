"""The command ``driftproof``: thin; each command is a file of ``driftproof/commands``."""

import gc
import importlib
import io
import signal
import sys
import threading
import traceback
from _thread import interrupt_main
from codecs import lookup
from collections.abc import Sequence
from pathlib import Path
from types import FrameType
from typing import Any

import click

from driftproof.toolkit import __version__
from driftproof.toolkit.errors import DriftproofError, after_system_error, unknown_name
from driftproof.toolkit.workers import end_pool

INTERNAL = 70
"""Exit status of a defect of driftproof's own (EX_SOFTWARE), which is no verdict."""
INTERRUPTED = 130
"""Exit status after Ctrl-C, as shells have it: 128 and the signal's number."""
TERMINATED = 143
"""Exit status after SIGTERM, which a batch system or a container sends before it kills."""
COMMANDS = Path(__file__).parent / "commands"


class Terminated(KeyboardInterrupt):
    """SIGTERM was sent: the command ends as after Ctrl-C, and leaves a ledger and no process."""


class Commands(click.Group):
    """Finds a command's file by its name and imports only that one."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of the files, as command names."""
        files = (path.stem for path in COMMANDS.glob("*.py") if not path.stem.startswith("_"))
        return sorted(name.removesuffix("_") for name in files)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        """Import a command (``list`` is in ``list_.py``, so as not to hide the builtin)."""
        if name not in self.list_commands(ctx):
            return None
        file = name if (COMMANDS / f"{name}.py").exists() else f"{name}_"
        command: click.Command = importlib.import_module(f"driftproof.commands.{file}").command
        return command

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        """Offer the nearest names where there is no such command."""
        if args and not args[0].startswith("-") and self.get_command(ctx, args[0]) is None:
            error = unknown_name("command", args[0], self.list_commands(ctx))
            raise DriftproofError(error.got, error.wanted, error.remedy.replace(" list", " --help"))
        return super().resolve_command(ctx, args)


@click.group(
    cls=Commands,
    context_settings={"help_option_names": ["-h", "--help"]},
    invoke_without_command=True,
)
@click.version_option(__version__, prog_name="driftproof")
@click.option("--debug", is_flag=True, help="Show tracebacks.")
@click.option("--quiet", is_flag=True, help="Print results only, no progress.")
@click.pass_context
def cli(ctx: click.Context, debug: bool, quiet: bool) -> None:
    """Is a theorem of federated optimisation true as printed, and how tight is it?"""
    ctx.obj = {"quiet": quiet}
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


def main() -> None:
    """Run the command line; foreseeable mistakes have no traceback.

    ``--debug`` and ``--quiet`` may stand before or after the command.
    """
    for stream in (sys.stdout, sys.stderr):  # what Windows takes for a pipe's has no σ
        if isinstance(stream, io.TextIOWrapper) and lookup(stream.encoding).name != "utf-8":
            stream.reconfigure(encoding="utf-8")
    gc.set_threshold(10_000, 50, 50)  # a fifth of the time that imports take was spent collecting
    words = sys.argv[1:]
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, _terminated)
        sys.unraisablehook = _swallowed
    sys.exit(status(words))


def _terminated(number: int, frame: FrameType | None) -> None:
    raise Terminated


def _swallowed(what: Any) -> None:
    """Raise Ctrl-C and SIGTERM again that came within a callback from C, where nothing is raised.

    A compiler's callbacks print what is raised, and go on. 50 milliseconds later the callback has
    mostly returned; if it has not, this is called again.
    """
    if isinstance(what.exc_value, KeyboardInterrupt):
        number = signal.SIGTERM if isinstance(what.exc_value, Terminated) else signal.SIGINT
        threading.Timer(0.05, interrupt_main, [number]).start()
    else:
        sys.__unraisablehook__(what)


def status(words: Sequence[str]) -> int:
    """Run the command that some words make, and return its exit status."""
    everywhere = [word for word in ("--debug", "--quiet") if word in words]
    debug = "--debug" in everywhere
    try:
        code = cli.main(
            [*everywhere, *(word for word in words if word not in everywhere)],
            prog_name="driftproof",
            standalone_mode=False,
        )
    except (DriftproofError, ExceptionGroup) as error:
        every: Sequence[Exception] = getattr(error, "exceptions", [error])  # one of each claim
        return max(_told(one, debug) for one in every)
    except (click.exceptions.Abort, KeyboardInterrupt) as end:
        named = next((word for word in words if not word.startswith("-")), "")
        command = cli.get_command(click.Context(cli), named)
        resumes = command is not None and any("--resume" in of.opts for of in command.params)
        how = "; the same command with --resume goes on" * resumes
        click.echo(f"driftproof: interrupted{how}", err=True)
        # click makes an Abort of either
        return TERMINATED if Terminated in (type(end), type(end.__cause__)) else INTERRUPTED
    except click.ClickException as error:
        error.show()
        return 2
    except BrokenPipeError:
        return 0
    except OSError as error:
        if debug:
            traceback.print_exc()
        click.echo(f"driftproof: {error}\n    remedy: {after_system_error(error)}", err=True)
        return 2
    except Exception as error:  # noqa: BLE001 - a defect of ours, told as one
        return _told(error, debug)
    finally:
        end_pool()
    return code if isinstance(code, int) else 0


def _told(error: Exception, debug: bool) -> int:
    """Print an error, one of ours as that, and return the exit status."""
    if debug:
        traceback.print_exception(error)
    if isinstance(error, DriftproofError):
        _tell(error)
        return int(error.exit_code)
    click.echo(
        f"driftproof: internal error, {type(error).__name__}: {error}\n"
        "    remedy: --debug shows the traceback; please report it with the command",
        err=True,
    )
    return INTERNAL


def _tell(error: DriftproofError) -> None:
    text = f"driftproof: {error.got}\n    wanted: {error.wanted}\n    remedy: {error.remedy}"
    click.echo(text, err=True)
