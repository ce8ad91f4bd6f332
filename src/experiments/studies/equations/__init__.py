"""The study of results that consist of printed equations."""
