"""The command line. Heavy libraries are imported by the verbs that need them."""

import argparse
import gc
import os
import re
import sys
from collections.abc import Sequence
from pathlib import Path

from experiments.commands.codes import BAD_INPUT, INTERRUPTED, OK
from experiments.commands.parser import parser_and_verbs
from experiments.contract.errors import BadInput

READERS = ("list", "show", "runs", "diff", "figures", "tables", "report", "verify", "sync")


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command; the exit code says how it went (0 well, 1 a surprise, 2 bad input)."""
    if argv is not None:
        return _answered(list(argv))
    try:
        return _answered(sys.argv[1:])
    finally:
        gc.freeze()  # the process ends: a last search for garbage is a tenth of a short command


def _answered(arguments: list[str]) -> int:
    try:
        if arguments[:1] == ["run"]:
            return _run(arguments[1:])
        if arguments[:1] == ["complete"]:
            from experiments.commands import completion

            return completion.answer(arguments[1:])
        return _dispatch(_parsed(arguments))
    except BadInput as error:
        for line in error.problems:
            print(f"bythebook: {line}", file=sys.stderr)
        return BAD_INPUT
    except ValueError as error:
        if type(error).__name__ != "DataError":  # importing it would cost every command NumPy
            raise
        print(f"bythebook: {error}", file=sys.stderr)
        return BAD_INPUT
    except BrokenPipeError:  # the reader (`| head`) has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return OK
    except OSError as error:
        where = f" {error.filename}" if error.filename else ""
        print(f"bythebook: cannot write or read{where}: {error.strerror or error}", file=sys.stderr)
        return BAD_INPUT
    except KeyboardInterrupt:
        print("bythebook: interrupted; what is recorded stays,", end=" ", file=sys.stderr)
        print("run the command again to go on", file=sys.stderr)
        return INTERRUPTED


def _run(arguments: list[str]) -> int:
    """A result as its file states it is run at once; all else is Hydra's to read."""
    from experiments.configuration import as_stated

    stated = as_stated.read(arguments)
    if stated is not None:
        from experiments.commands import single

        return single.run(stated.job, stated.settings)
    from experiments.commands import run

    return run.main(arguments)


def _dispatch(options: argparse.Namespace) -> int:
    from importlib import import_module

    if options.outputs is not None and not options.outputs.strip():
        raise BadInput("--outputs is empty; allowed: a folder")
    if options.outputs and options.module in READERS:
        folder = Path(options.outputs).expanduser()
        if not folder.is_dir():
            raise BadInput(f"--outputs {folder} is not a folder: nothing is recorded there")
    code: int = import_module(f"experiments.commands.{options.module}").main(options)
    return code


def _parsed(arguments: list[str]) -> argparse.Namespace:
    """The command line; a word that is left over is looked for among those that the verb takes."""
    from experiments.contract.suggestions import meant

    parser, verbs = parser_and_verbs()
    first = arguments[0] if arguments else None
    if first is None:
        raise BadInput(f"no command is given; allowed: {', '.join(verbs)}")
    if first.startswith("-") and first not in ("-h", "--help", "--version"):
        hint = meant(first, ["--help", "--version"])
        raise BadInput(f"'{first}' is not understood{hint}; allowed: {', '.join(verbs)}")
    words = [_outputs(word) for word in arguments]
    options, left = parser.parse_known_args(words)
    if left:
        usage = " ".join(verbs[options.module].format_usage().split())
        hint = meant(left[0], re.findall(r"--[\w-]+", usage))
        raise BadInput(f"'{left[0]}' is not understood{hint}; {usage}")
    return options


def _outputs(word: str) -> str:
    """`outputs=DIR`, as `run` has it, means `--outputs DIR` everywhere."""
    return f"--{word}" if word.startswith("outputs=") else word
