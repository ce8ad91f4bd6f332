"""From files and overrides to jobs."""
