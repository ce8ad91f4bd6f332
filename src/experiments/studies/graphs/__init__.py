"""Graphical models: tables of discrete variables, and questions to them."""
