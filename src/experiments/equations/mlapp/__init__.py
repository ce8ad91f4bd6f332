"""Equations of MLAPP, a file a chapter."""
