"""Latent variable models: PCA, factor analysis."""
