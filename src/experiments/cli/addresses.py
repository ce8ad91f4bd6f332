"""Addresses and host names on which a command serves pages."""

import errno
import ipaddress
import socket
from contextlib import suppress

from bythebook.experiments.core.errors import InputError


def check_port(host: str, port: int) -> None:
    """Raise `InputError` if no server can listen on the address now."""
    if not 0 < port < 65536:
        raise InputError(f"--port {port} is not allowed; allowed: 1 to 65535")
    try:
        (family, kind, _, _, address), *_ = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        with socket.socket(family, kind) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(address)
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise InputError(f"port {port} is in use; choose another with --port") from error
        reason = error.strerror or error
        raise InputError(f"cannot listen on --host {host} --port {port}: {reason}") from error


def is_any(host: str) -> bool:
    """Whether it stands for every address of this machine."""
    with suppress(ValueError):
        return ipaddress.ip_address(host).is_unspecified
    return not host


def own_names(host: str, port: int) -> list[str]:
    """The host names for requests from this machine, and the address that the server listens on."""
    own = dict.fromkeys(["localhost", "127.0.0.1", "[::1]"])
    if not is_any(host):
        own[f"[{host}]" if ":" in host else host] = None
    return [f"{name}:{port}" for name in own]
