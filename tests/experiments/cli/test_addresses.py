"""Addresses on which a command serves pages: free ports, and the names of the host."""

import socket

import pytest

from bythebook.experiments.cli.addresses import check_port, is_any, own_names
from bythebook.experiments.core.errors import InputError


def test_the_host_is_an_allowed_name() -> None:
    loopback = ["localhost:1", "127.0.0.1:1", "[::1]:1"]
    assert own_names("127.0.0.1", 1) == own_names("::1", 1) == loopback
    assert own_names("192.0.2.7", 1) == [*loopback, "192.0.2.7:1"]
    assert own_names("2001:db8::7", 1) == [*loopback, "[2001:db8::7]:1"]
    for wildcard in ("0.0.0.0", "::", ""):
        assert is_any(wildcard)
        assert own_names(wildcard, 1) == loopback


@pytest.mark.parametrize(
    ("host", "port", "line"),
    [
        ("127.0.0.1", 70000, "--port 70000 is not allowed; allowed: 1 to 65535"),
        ("127.0.0.1", 0, "--port 0 is not allowed; allowed: 1 to 65535"),
        ("192.0.2.7", 5000, "cannot listen on --host 192.0.2.7 --port 5000"),
        ("not a host", 5000, "cannot listen on --host not a host --port 5000"),
    ],
)
def test_an_address_without_a_server_is_refused(host: str, port: int, line: str) -> None:
    with pytest.raises(InputError, match=line):
        check_port(host, port)


def test_a_port_in_use_is_refused() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(InputError, match=f"port {port} is in use; choose another with --port"):
            check_port("127.0.0.1", port)
    check_port("127.0.0.1", port)
