"""Committees of models."""
