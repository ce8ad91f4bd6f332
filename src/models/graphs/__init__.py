"""Graphical models: variables, factors and inference in their graphs."""
