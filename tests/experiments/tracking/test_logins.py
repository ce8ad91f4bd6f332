"""The server's door, with a clock of its own and an application that only says who got in."""

import asyncio
import base64
import threading
from collections import Counter
from collections.abc import Callable, Coroutine, MutableMapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import pytest

from bythebook.experiments.tracking.logins import (
    LARGEST,
    LONGEST,
    Credentials,
    Door,
    Few,
    Pauses,
    neighbourhood,
    remembering,
)

T = TypeVar("T")
PASSWORDS = {"alice": "alices-Password.1", "bob": "bobs-Password.2", "ünü": "pässwörd:mit:colons"}
HOME, AWAY = "192.0.2.1", "192.0.2.2"


def run(work: Coroutine[Any, Any, T]) -> T:
    """In a thread of its own: a browser's tests leave a loop running in the first."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, work).result()


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def basic(user: str, password: str) -> bytes:
    return b"Basic " + base64.b64encode(f"{user}:{password}".encode())


class Site:
    """A door, the passwords behind it, and what is asked of them."""

    def __init__(self) -> None:
        self.clock, self.passwords = Clock(), dict(PASSWORDS)
        self.checked: Counter[str] = Counter()
        self.reached: list[dict[bytes, bytes]] = []
        self.door = Door(self.inner, self.check, Pauses(self.clock))

    def check(self, user: str, password: str) -> bool:
        self.checked[user] += 1
        return self.passwords.get(user) == password

    async def inner(self, scope: Any, receive: Any, send: Any) -> None:
        """As MLflow: it looks for itself, and serves one page to everybody."""
        self.reached.append(dict(scope["headers"]))
        given = Credentials.of(scope)
        right = given is not None and self.passwords.get(given.user) == given.password
        status = 200 if right or scope["path"] == "/health" else 401
        await send({"type": "http.response.start", "status": status, "headers": []})
        await send({"type": "http.response.body", "body": b"inside"})

    async def send(
        self, *headers: tuple[bytes, bytes], path: str = "/x", address: str = HOME
    ) -> tuple[int, dict[bytes, bytes]]:
        sent: list[MutableMapping[str, Any]] = []

        async def receive() -> MutableMapping[str, Any]:
            return {"type": "http.request", "body": b""}

        async def send(message: MutableMapping[str, Any]) -> None:
            sent.append(message)

        scope = {"type": "http", "path": path, "headers": headers, "client": (address, 4711)}
        await self.door(scope, receive, send)
        return sent[0]["status"], dict(sent[0]["headers"])

    def ask(self, user: str, password: str, address: str = HOME) -> int:
        header = (b"authorization", basic(user, password))
        return run(self.send(header, address=address))[0]


@pytest.fixture
def site() -> Site:
    return Site()


def test_a_right_password_is_checked_once(site: Site) -> None:
    for user, password in PASSWORDS.items():
        assert [site.ask(user, password) for _ in range(20)] == [200] * 20
    assert set(site.checked.values()) == {1}


MALFORMED = [
    b"Bearer x",
    b"Basic",
    b"Basic ",
    b"Basic !!!",
    b"Basic " + base64.b64encode(b"nocolon"),
    b"Basic " + base64.b64encode(b"\xff\xfe:x"),
    b"Basic " + base64.b64encode(b"a\0b:x"),
    b"Basic " + base64.b64encode(b"alice:" + b"x" * LARGEST),
    b"Digest username=alice",
    b"\xff",
    b"",
]


@pytest.mark.parametrize("header", MALFORMED)
def test_what_is_no_name_with_a_password_is_nobody(site: Site, header: bytes) -> None:
    status, _ = run(site.send((b"Authorization", header)))
    assert status == 401
    status, _ = run(site.send((b"Authorization", header), path="/health"))
    assert status == 200
    assert b"authorization" not in {name.lower() for name in site.reached[0]}
    assert not site.checked


def test_of_two_headers_neither_is_taken_and_the_gateways_never(site: Site) -> None:
    right = basic("alice", PASSWORDS["alice"])
    two = [(b"authorization", right), (b"Authorization", basic("bob", "guess"))]
    assert run(site.send(*two))[0] == 401
    assert run(site.send((b"x-mlflow-authorization", right)))[0] == 401
    assert site.reached == [{}, {}]


def test_wrong_passwords_are_followed_by_pauses_that_double(site: Site) -> None:
    """The pauses by hand: 1, 2, 4, 8, 16 and then 30 seconds."""
    assert [site.ask("alice", f"guess {i}") for i in range(6)] == [401] * 6
    for pause in (1, 2, 4, 8, 16, 30, 30, 30):
        before = site.checked["alice"]
        header = (b"authorization", basic("alice", PASSWORDS["alice"]))
        status, headers = run(site.send(header))
        assert (status, headers[b"retry-after"]) == (429, str(pause).encode())
        site.clock.now += pause - 0.01
        assert site.ask("alice", "early") == 429
        assert site.checked["alice"] == before  # nobody looked
        site.clock.now += 0.02
        assert site.ask("alice", f"guess after {pause}") == 401
    site.clock.now += LONGEST
    assert site.ask("alice", PASSWORDS["alice"]) == 200  # the right one waits no longer than that


@pytest.mark.parametrize("right", [False, True])
def test_an_hour_of_guessing_tries_few_passwords(site: Site, right: bool) -> None:
    """No more than the longest pause allows, whether or not the guesser is a user too."""
    tried = 0
    for second in range(3600):
        tried += site.ask("alice", f"guess {second}") == 401
        if right:
            assert site.ask("bob", PASSWORDS["bob"]) == 200
        site.clock.now += 1.0
    assert 3600 / LONGEST <= tried <= 12 + 3600 / LONGEST


def test_who_was_let_in_is_not_locked_out_by_others(site: Site) -> None:
    assert site.ask("alice", PASSWORDS["alice"]) == 200
    for attempt in range(100):
        site.ask("alice", f"guess {attempt}", AWAY)
        site.ask("alice", f"guess {attempt}", HOME)
    assert site.ask("alice", PASSWORDS["alice"], HOME) == 200
    assert site.ask("alice", PASSWORDS["alice"], AWAY) == 200


def test_a_clean_address_is_heard_while_the_name_is_tried_from_elsewhere(site: Site) -> None:
    for attempt in range(100):
        site.ask("alice", f"guess {attempt}", AWAY)
    assert site.ask("alice", "guess", AWAY) == 429
    assert site.ask("alice", PASSWORDS["alice"], HOME) == 200


def test_one_mistaken_user_does_not_make_the_others_at_an_address_wait(site: Site) -> None:
    for second in range(600):
        site.ask("alice", f"old password {second % 2}")
        site.clock.now += 1.0
    assert site.ask("bob", PASSWORDS["bob"]) == 200


def test_many_names_from_one_address_wait(site: Site) -> None:
    answers = Counter(site.ask(f"user {i}", "guess") for i in range(200))
    assert answers == {401: 21, 429: 179}
    assert site.ask("alice", "guess", AWAY) == 401


def test_success_forgives_no_guess_at_anothers_name(site: Site) -> None:
    tried = 0
    for attempt in range(60):
        tried += site.ask("alice", f"guess {attempt}") == 401
        assert site.ask("bob", PASSWORDS["bob"]) == 200
    assert tried == 6


def test_many_requests_at_once_with_one_password_are_one_try(site: Site) -> None:
    """A sweep begins with eight connections; another's guesses in parallel are counted each."""
    gate = threading.Event()
    slow = site.door.check

    def check(user: str, password: str) -> bool:
        gate.wait(60)
        return slow(user, password)

    site.door.check = check

    async def all_at_once(passwords: list[str]) -> Counter[int]:
        asked = [
            asyncio.ensure_future(site.send((b"authorization", basic("alice", word))))
            for word in passwords
        ]
        await asyncio.sleep(0)  # each has come as far as it may without an answer
        await asyncio.sleep(0)
        gate.set()
        return Counter([status for status, _ in await asyncio.gather(*asked)])

    assert run(all_at_once([PASSWORDS["alice"]] * 30)) == {200: 30}
    assert site.checked["alice"] == 1
    gate.clear()
    assert run(all_at_once([f"guess {i}" for i in range(30)])) == {401: 6, 429: 24}


def test_others_are_served_while_a_password_is_checked(site: Site) -> None:
    assert site.ask("bob", PASSWORDS["bob"]) == 200
    gate, right = threading.Event(), site.door.check
    site.door.check = lambda *given: gate.wait(60) and right(*given)

    async def meanwhile() -> tuple[int, int]:
        waiting = asyncio.ensure_future(
            site.send((b"authorization", basic("alice", PASSWORDS["alice"])))
        )
        served, _ = await site.send((b"authorization", basic("bob", PASSWORDS["bob"])))
        gate.set()
        return served, (await waiting)[0]

    assert run(meanwhile()) == (200, 200)


def test_a_changed_password_is_wrong_at_once(site: Site) -> None:
    assert site.ask("alice", PASSWORDS["alice"]) == 200
    site.passwords["alice"] = "another-Password.3"
    assert site.ask("alice", PASSWORDS["alice"]) == 401
    assert site.ask("alice", "another-Password.3") == 200
    del site.passwords["alice"]
    assert site.ask("alice", "another-Password.3") == 401
    assert site.checked["alice"] == 2
    assert site.ask("alice", "another-Password.3") == 401
    assert site.checked["alice"] == 3  # it is no longer taken for right


def test_passwords_that_cannot_be_checked_are_nobodys_fault(
    site: Site, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(*_: str) -> bool:
        raise OSError("no database")

    right, site.door.check = site.door.check, broken
    assert [site.ask("alice", PASSWORDS["alice"]) for _ in range(30)] == [503] * 30
    assert {record.message for record in caplog.records} == {
        "could not check a password: no database"
    }
    site.door.check = right
    assert site.ask("alice", PASSWORDS["alice"]) == 200


def test_memory_is_bounded() -> None:
    clock = Clock()
    pauses, few = Pauses(clock, most=50), Few(most=50)
    for number in range(500):
        pauses.begin(f"user {number}", f"192.0.2.{number}")
        pauses.take_back(f"user {number - 100}", "")
        few.add(few.digest(str(number)))
    assert len(pauses.users.held) == len(pauses.addresses.held) == len(few._held) == 50
    assert few.digest("499") in few
    assert few.digest("449") not in few


def test_a_digest_separates_name_and_password() -> None:
    few = Few()
    assert few.digest("a", "bc") != few.digest("ab", "c")
    assert Few().digest("a", "b") != few.digest("a", "b")


@pytest.mark.parametrize(
    ("address", "name"),
    [
        ("192.0.2.1", "192.0.2.1"),
        ("::ffff:192.0.2.1", "192.0.2.1"),
        ("2001:db8:1:2:3::4", "2001:db8:1:2::/64"),
        ("2001:db8:1:2:9::", "2001:db8:1:2::/64"),
        ("", ""),
    ],
)
def test_addresses_that_one_machine_may_choose_from_are_one(address: str, name: str) -> None:
    assert neighbourhood(address) == name


def test_a_slow_check_is_made_once_for_each_hash_and_right_password() -> None:
    made: list[tuple[str, str]] = []

    def slow(stored: str, password: str) -> bool:
        made.append((stored, password))
        return stored == f"hash of {password}"

    check: Callable[[str, str], bool] = remembering(slow)
    assert check("hash of a", "a")
    assert check("hash of a", "a")
    assert made == [("hash of a", "a")]
    assert not check("hash of b", "a")  # it has been changed
    assert not check("hash of b", "a")
    assert check("hash of b", "b")
    assert len(made) == 4


def test_nothing_speaks_in_sockets_and_lifespans_are_mlflows(site: Site) -> None:
    sent: list[MutableMapping[str, Any]] = []
    seen: list[str] = []

    async def send(message: MutableMapping[str, Any]) -> None:
        sent.append(message)

    async def inner(scope: Any, receive: Any, send: Any) -> None:
        seen.append(scope["type"])

    door = Door(inner, site.check)
    for kind in ("websocket", "lifespan"):
        run(door({"type": kind}, send, send))  # type: ignore[arg-type]
    assert sent == [{"type": "websocket.close", "code": 1008}]
    assert seen == ["lifespan"]
