"""`bythebook run --help`: usage and settings, or the description of a study."""

import dataclasses
import json
from typing import Any

from rich.markup import escape

from bythebook.experiments.cli import console, show_study
from bythebook.experiments.cli.exit_codes import OK
from bythebook.experiments.config import catalogue
from bythebook.experiments.config.result_names import find_result
from bythebook.experiments.config.schema import RunConfig
from bythebook.experiments.core.knobs import describe_constraints

USAGE = """\
usage: bythebook run [-m] [<experiment> | study=<name>] [key=value ...]

  bythebook run fcml/fig-1.15                              compute a printed result and its verdicts
  bythebook run fcml/fig-1.15 'study.orders=[1,2,3]'       change a knob
  bythebook run study=ridge_path 'study.lambdas=[0,1]'     run a study without a printed result
  bythebook run -m study=bias_variance 'seed=range(0,20)' study.noise=0.1,0.3 jobs=2
                                                           run a sweep; the same command resumes it

  bythebook run --help <study>       list the knobs and quantities of a study
  bythebook run --hydra-help         show the syntax of key=value, and Hydra's flags
"""
OVERRIDE_SYNTAX = """\
Overrides have Hydra's syntax:
  key=value            set a value; quote characters of the shell: 'study.orders=[1,2,3]'
  key=null             no value; true and false, [a,b] for a list, {a:1} for a mapping
  +key=value           add an entry to a mapping (+launcher.options.slurm_partition=short)
  key=a,b,c            several values (with -m); also range(0,10), range(0,1,0.1), choice(a,b)
  experiment=glob(fcml/fig-1.*)                    all matching results (with -m)

Flags:
  -m, --multirun       sweep over all combinations of the values
  --outputs DIR        folder of the recorded runs (the same as outputs=DIR)
  --verbose            list every claim with its expression, evidence and tolerance
  --dry-run            list the runs to compute, with the reason; write nothing
  -c, --cfg job        print the composed configuration (job, hydra or all)
  -p, --package KEY    print a part of it;  -r, --resolve  resolve interpolations
  -i, --info [WHAT]    print its origin: config, defaults, defaults-tree, searchpath, plugins
  -cd, --config-dir D  use your own experiment files in D/experiment/
Hydra only composes the configuration; settings below hydra.* are not allowed.
"""


def show(words: list[str]) -> int:
    """Print usage and settings; with a word, the study that it names or that its result uses."""
    if words:
        name = words[0].partition("=")[2] or words[0].removeprefix("study:")
        result = find_result(name)
        return show_study.show(catalogue.load_heading(result).study if result else name)
    console.print_text(USAGE)
    rows = []
    for entry in dataclasses.fields(RunConfig):
        if entry.name == "launcher":
            rows.append([entry.name, "local", "local, dask or slurm"])
        elif entry.name == "limits":
            rows.append(["limits.timeout", "null", "computing time of one run, in seconds"])
            rows.append(["limits.memory_gb", "null", "memory of one run, in GB"])
        elif entry.metadata:
            meaning = f"{entry.metadata['doc']} ({describe_constraints(entry)})"
            rows.append([entry.name, _default(entry), meaning])
    console.table(["setting", "default", "meaning"], [[escape(c) for c in row] for row in rows])
    return OK


def show_override_syntax() -> int:
    """Print the part of Hydra's command-line syntax that `bythebook run` supports."""
    console.print_text(OVERRIDE_SYNTAX)
    return OK


def _default(field: dataclasses.Field[Any]) -> str:
    return json.dumps(field.default)
