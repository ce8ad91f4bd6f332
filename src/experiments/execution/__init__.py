"""Execution of jobs: runner, workers, launchers, clusters, resource limits and provenance."""
