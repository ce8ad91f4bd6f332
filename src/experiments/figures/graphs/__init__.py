"""Figures of the studies of graphical models."""
