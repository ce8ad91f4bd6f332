"""Equations of Ghahramani, a file a chapter."""
