"""Few dimensions behind many: PCA, factor analysis."""
