"""Figures of recorded outcomes: one module per study, with the same name."""
