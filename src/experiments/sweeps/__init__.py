"""Sweeps: many runs over all combinations of knob values."""
