"""The pipeline: configurations in, judged and tracked runs out."""

__version__ = "0.1.0"
