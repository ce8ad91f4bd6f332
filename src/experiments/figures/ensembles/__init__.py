"""Committees of models, drawn."""
