"""The Python interface: what the command line does, as calls that return what they found."""
