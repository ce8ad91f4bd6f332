"""The command line: parses it, runs the command, and turns errors into messages and exit codes.

Each command imports the heavy libraries that it needs.
"""

import argparse
import gc
import os
import re
import sys
from collections.abc import Sequence
from pathlib import Path

from bythebook.experiments.cli.exit_codes import BAD_INPUT, INTERRUPTED, OK
from bythebook.experiments.cli.parser import build_parser
from bythebook.experiments.config.former_names import FLAGS
from bythebook.experiments.core.errors import InputError

READ_ONLY_COMMANDS = (
    "list",
    "show",
    "runs",
    "diff",
    "figures",
    "tables",
    "report",
    "verify",
    "sync",
)


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code; see `exit_codes`."""
    if argv is not None:
        return _run_command(list(argv))
    try:
        return _run_command(sys.argv[1:])
    finally:
        gc.freeze()  # skip the collection at exit, which takes a tenth of a short command


def _run_command(arguments: list[str]) -> int:
    try:
        if arguments[:1] == ["run"]:
            return _run(arguments[1:])
        if arguments[:1] == ["complete"]:
            from bythebook.experiments.cli import completion

            return completion.print_completions(arguments[1:])
        return _dispatch(_parse(arguments))
    except InputError as error:
        for line in error.problems:
            print(f"bythebook: {line}", file=sys.stderr)
        return BAD_INPUT
    except ValueError as error:
        if type(error).__name__ != "DataError":  # importing the class would import NumPy
            raise
        print(f"bythebook: {error}", file=sys.stderr)
        return BAD_INPUT
    except BrokenPipeError:  # the reader of the pipe, for example `head`, has ended
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return OK
    except OSError as error:
        path = f" {error.filename}" if error.filename else ""
        print(
            f"bythebook: could not read or write{path}: {error.strerror or error}", file=sys.stderr
        )
        return BAD_INPUT
    except KeyboardInterrupt:
        line = "interrupted; completed runs are recorded, run the same command to resume"
        print(f"bythebook: {line}", file=sys.stderr)
        return INTERRUPTED


def _run(arguments: list[str]) -> int:
    """Run a result with the settings of its file without Hydra, and anything else with Hydra."""
    from bythebook.experiments.config import plain_run

    plain = plain_run.read_plain_run(arguments)
    if plain is not None:
        from bythebook.experiments.cli import single_run

        return single_run.run(plain.job, plain.settings, verbose=plain.verbose)
    from bythebook.experiments.cli import run

    return run.main(arguments)


def _dispatch(options: argparse.Namespace) -> int:
    from importlib import import_module

    if options.outputs is not None and not options.outputs.strip():
        raise InputError("--outputs has an empty value; allowed: the path of a folder")
    if options.outputs and options.module in READ_ONLY_COMMANDS:
        folder = Path(options.outputs).expanduser()
        if not folder.is_dir():
            raise InputError(f"--outputs {folder}: there is no such folder")
    code: int = import_module(f"bythebook.experiments.cli.{options.module}").main(options)
    return code


def _parse(arguments: list[str]) -> argparse.Namespace:
    """Parse a command line; the message for an unknown argument suggests a similar flag."""
    from bythebook.experiments.core.suggestions import did_you_mean

    parser, commands = build_parser()
    first = arguments[0] if arguments else None
    if first is None:
        raise InputError(f"missing command; allowed: {', '.join(commands)}")
    if first.startswith("-") and first not in ("-h", "--help", "--version"):
        hint = did_you_mean(first, ["--help", "--version"])
        raise InputError(f"unknown argument '{first}'{hint}; allowed: {', '.join(commands)}")
    words = [_normalise_outputs(word) for word in arguments]
    options, unknown = parser.parse_known_args(words)
    if unknown:
        usage = " ".join(commands[options.module].format_usage().split())
        flag = unknown[0].partition("=")[0]
        if present := FLAGS.get(flag):
            raise InputError(f"{flag} is called {present} now")
        hint = did_you_mean(flag, re.findall(r"--[\w-]+", usage))
        raise InputError(f"unknown argument '{unknown[0]}'{hint}; {usage}")
    return options


def _normalise_outputs(word: str) -> str:
    """Accept `outputs=DIR`, the spelling of `run`, as `--outputs=DIR` in every command."""
    return f"--{word}" if word.startswith("outputs=") else word
