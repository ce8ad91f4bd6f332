"""Figures of the studies of probability."""
