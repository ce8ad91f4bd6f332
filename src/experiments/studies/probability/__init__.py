"""Distributions, tables and coins."""
