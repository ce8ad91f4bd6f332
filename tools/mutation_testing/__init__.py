"""Mutation testing: plants faults into a copy of `src/models` and counts the detected ones."""
