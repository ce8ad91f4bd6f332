"""Configuration: experiment files, command lines, and the jobs that they determine."""
