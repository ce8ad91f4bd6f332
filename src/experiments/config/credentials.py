"""Removal of passwords from addresses."""

import re


def redact_credentials(text: str) -> str:
    """The text with `***` for the user name and password of each address."""
    return re.sub(r"(://)(?:[^\s'\"/]*:[^\s'\"]*|[^\s'\"/]+)@", r"\1***@", text)
