"""Add the study `misbehaving`; every Python with this folder on its path loads this module."""

from pathlib import Path

import bythebook.experiments.figures
import bythebook.experiments.studies

for package, folder in (
    (bythebook.experiments.studies, "studies"),
    (bythebook.experiments.figures, "figures"),
):
    package.__path__.append(str(Path(__file__).parent / folder))
