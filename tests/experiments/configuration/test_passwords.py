"""Addresses without their passwords."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from experiments.configuration.passwords import redacted

letters = st.text("abcXYZ019-_.~%:/@!", min_size=1, max_size=20)
users = st.text("abcXYZ019-_.", min_size=1, max_size=10)


@given(users, letters, st.sampled_from(["http", "postgresql+psycopg"]))
def test_no_password_is_left(user: str, password: str, scheme: str) -> None:
    """Whatever characters it has: people do not always encode a slash or an at."""
    typed = f"tracking.uri={scheme}://{user}:{password}@host:5000/a?b=c"
    assert redacted(typed) == f"tracking.uri={scheme}://***@host:5000/a?b=c"


@given(st.text())
def test_redacting_twice_is_redacting_once(text: str) -> None:
    assert redacted(redacted(text)) == redacted(text)
    if "@" not in text:
        assert redacted(text) == text


@pytest.mark.parametrize(
    "text", ["http://host/a@b", "me@example.org", "http://host:5000/#/experiments", "a://b c@d"]
)
def test_what_holds_no_password_stays(text: str) -> None:
    assert redacted(text) == text
