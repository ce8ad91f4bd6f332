"""The Python interface: functions for what the commands `run` and `reproduce` do."""
