"""Addresses without the passwords that were typed into them."""

import re


def redacted(text: str) -> str:
    """No password that was typed into an address reaches a record or a line."""
    return re.sub(r"(://)(?:[^\s'\"/]*:[^\s'\"]*|[^\s'\"/]+)@", r"\1***@", text)
