"""Loaded by every Python that has this folder on its path: adds the studies that misbehave."""

from pathlib import Path

import experiments.studies

experiments.studies.__path__.append(str(Path(__file__).parent / "studies"))
