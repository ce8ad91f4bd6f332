"""Equations of the Notes, a file a chapter."""
