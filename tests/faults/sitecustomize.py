"""Loaded by every Python that has this folder on its path: adds the studies that misbehave."""

from pathlib import Path

import experiments.figures
import experiments.studies

for package, folder in ((experiments.studies, "studies"), (experiments.figures, "figures")):
    package.__path__.append(str(Path(__file__).parent / folder))
