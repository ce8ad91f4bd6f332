"""The configuration tree, importable as `experiments.conf` once installed."""
