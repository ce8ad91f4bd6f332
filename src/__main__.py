"""`python -m bythebook` is the command `bythebook`."""

import sys

if not sys.flags.safe_path:  # the first entry is the current folder, as for every `python -m`
    del sys.path[0]

from bythebook.experiments.cli.main import main

sys.exit(main())
