"""`bythebook run --help`: a screen of it; a study's name after it, that study."""

import dataclasses
import json
from typing import Any

from rich.markup import escape

from experiments.commands import console, show_study
from experiments.commands.codes import OK
from experiments.configuration import catalogue
from experiments.configuration.schema import Root
from experiments.contract.knobs import allowed

USAGE = """\
usage: bythebook run [-m] [<experiment> | study=<name>] [key=value ...]

  bythebook run fcml/fig-1.15                              a printed result, judged
  bythebook run fcml/fig-1.15 'study.orders=[1,2,3]'       with other knobs
  bythebook run study=ridge_path 'study.lambdas=[0,1]'     a study on its own
  bythebook run -m study=order_recovery 'seed=range(0,20)' study.noise=0.1,0.3 jobs=2
                                                           a sweep; again, and it goes on

  bythebook run --help <study>       its knobs and what it computes (`bythebook list`: results)
  bythebook run --hydra-help         the grammar of key=value, and Hydra's flags
"""
GRAMMAR = """\
Overrides are in Hydra's grammar:
  key=value            set;  quote what the shell would take: 'study.orders=[1,2,3]'
  key=null             none; true and false are truth values, [a,b] a list, {a:1} a mapping
  +key=value           add an entry of a mapping (+launch.options.slurm_partition=short)
  key=a,b,c            several values (with -m);  also range(0,10), range(0,1,0.1), choice(a,b)
  experiment=glob(fcml/fig-1.*)                    every result that fits (with -m)

Flags:
  -m, --multirun       sweep over all combinations of the values
  --outputs DIR        where runs are kept (outputs=DIR says the same)
  --dry-run            what would run, and why; nothing is written
  -c, --cfg job        print the composed configuration (job, hydra or all)
  -p, --package KEY    a part of it;  -r, --resolve  with interpolations resolved
  -i, --info [WHAT]    how Hydra came to it: config, defaults, defaults-tree, searchpath, plugins
  -cd, --config-dir D  experiment files of your own, in D/experiment/
Hydra composes the configuration and does nothing else: settings below hydra.* are refused.
"""
_GROUPS = {"tracking": "local, server or off", "launch": "local, dask or slurm"}


def show(words: list[str]) -> int:
    """Usage and settings; or a study."""
    if words:
        name = words[0].partition("=")[2] or words[0].removeprefix("study:")
        known = name in catalogue.names()
        return show_study.show(catalogue.read(name).study if known else name)
    console.plain(USAGE)
    rows = []
    for entry in dataclasses.fields(Root):
        if entry.name in _GROUPS:
            rows.append([entry.name, "local", _GROUPS[entry.name]])
        elif entry.name == "data":
            rows.append(["data.dir", "null", "folder of the authors' original files (BOOK_DATA)"])
        elif entry.name == "limit":
            rows.append(["limit.seconds, .memory_gb", "null", "what one run may use"])
        elif entry.metadata:
            words_ = f"{entry.metadata['doc']} ({allowed(entry)})"
            rows.append([entry.name, _default(entry), words_])
    console.table(["setting", "default", "meaning"], [[escape(c) for c in row] for row in rows])
    return OK


def show_grammar() -> int:
    """What of Hydra's command line works here: nearly all of it."""
    console.plain(GRAMMAR)
    return OK


def _default(field: dataclasses.Field[Any]) -> str:
    return json.dumps(field.default)
