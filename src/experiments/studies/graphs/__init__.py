"""Graphical models: tables of discrete variables, and inference with them."""
