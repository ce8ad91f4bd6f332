"""The Python interface (`run`, `sweep`, `reproduce`, `results`), and the pipeline behind it."""
