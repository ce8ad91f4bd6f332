"""Benchmarks: the speed of our code and of other packages, measured alternately in one run."""
