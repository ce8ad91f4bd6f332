"""Filters over continuous states, and learning them, drawn."""
