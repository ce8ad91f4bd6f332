"""Helpers for figures: panels, common plots, layout, styles and output files."""
