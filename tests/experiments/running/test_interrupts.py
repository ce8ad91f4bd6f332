"""Ctrl-C once asks, twice stops; whoever had the signal before has it again."""

import signal
import threading

import pytest

from experiments.running.interrupts import never, patient


def test_the_first_asks_and_the_second_stops(capfd: pytest.CaptureFixture[str]) -> None:
    before = signal.getsignal(signal.SIGINT)
    with patient() as stopped:
        assert not stopped()
        signal.raise_signal(signal.SIGINT)
        assert stopped()
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is before
    assert capfd.readouterr().err.count("Ctrl-C again stops at once") == 1


def test_an_error_gives_the_signal_back() -> None:
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(ArithmeticError), patient():
        raise ArithmeticError
    assert signal.getsignal(signal.SIGINT) is before


def test_a_thread_gets_no_signals_and_does_not_ask_for_them() -> None:
    answers: list[object] = []

    def look() -> None:
        with patient() as stopped:
            answers.append(stopped)

    thread = threading.Thread(target=look)
    thread.start()
    thread.join()
    assert answers == [never]
    assert not never()
