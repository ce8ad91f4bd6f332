"""Equations of FCML, a file a chapter."""
