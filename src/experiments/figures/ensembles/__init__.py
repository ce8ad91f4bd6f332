"""Figures of committees of models."""
