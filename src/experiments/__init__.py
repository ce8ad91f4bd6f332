"""The pipeline: configurations in, judged and tracked runs out."""
