"""Graphical models: variables, factors, and what they say of each other."""
