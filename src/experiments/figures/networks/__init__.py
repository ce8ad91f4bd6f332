"""Figures of neural networks."""
