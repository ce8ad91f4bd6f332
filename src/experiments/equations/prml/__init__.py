"""Equations of PRML, a file a chapter."""
