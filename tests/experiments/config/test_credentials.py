"""Removal of passwords from addresses."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bythebook.experiments.config.credentials import redact_credentials

letters = st.text("abcXYZ019-_.~%:/@!", min_size=1, max_size=20)
users = st.text("abcXYZ019-_.", min_size=1, max_size=10)


@given(users, letters, st.sampled_from(["http", "postgresql+psycopg"]))
def test_user_and_password_are_removed(user: str, password: str, scheme: str) -> None:
    """Also if the password has characters that should be encoded, such as a slash."""
    typed = f"tracking_uri={scheme}://{user}:{password}@host:5000/a?b=c"
    assert redact_credentials(typed) == f"tracking_uri={scheme}://***@host:5000/a?b=c"


@given(st.text())
def test_redacting_twice_is_redacting_once(text: str) -> None:
    assert redact_credentials(redact_credentials(text)) == redact_credentials(text)
    if "@" not in text:
        assert redact_credentials(text) == text


@pytest.mark.parametrize(
    "text", ["http://host/a@b", "me@example.org", "http://host:5000/#/experiments", "a://b c@d"]
)
def test_text_without_a_password_is_unchanged(text: str) -> None:
    assert redact_credentials(text) == text
