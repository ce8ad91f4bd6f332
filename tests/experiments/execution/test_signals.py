"""Ctrl-C: the first sets a flag, the second raises, and the previous handler is restored."""

import signal
import threading

import pytest

from bythebook.experiments.execution.signals import graceful_interrupts, never_stop


def test_the_first_sets_a_flag_and_the_second_raises(capfd: pytest.CaptureFixture[str]) -> None:
    before = signal.getsignal(signal.SIGINT)
    with graceful_interrupts() as stopped:
        assert not stopped()
        signal.raise_signal(signal.SIGINT)
        assert stopped()
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is before
    assert capfd.readouterr().err.count("Ctrl-C again stops at once") == 1


def test_an_error_restores_the_handler() -> None:
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(ArithmeticError), graceful_interrupts():
        raise ArithmeticError
    assert signal.getsignal(signal.SIGINT) is before


def test_a_thread_installs_no_handler() -> None:
    checks: list[object] = []

    def work() -> None:
        with graceful_interrupts() as stopped:
            checks.append(stopped)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert checks == [never_stop]
    assert not never_stop()
