"""Figures of latent variable models."""
