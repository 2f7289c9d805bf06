"""Processes of the program that end with the call that started them."""

from __future__ import annotations

import contextlib
import contextvars
import os
import signal
import subprocess
import threading
from typing import Iterator, List, Sequence, Set, Tuple

GRACE_SECONDS = 3  # after SIGTERM, at which the program removes what it began to write


class Cancelled(Exception):
    """The call is no longer asked for."""


class Call:
    """One call of a client and the process that works for it, which has a group of its own."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._cancelled = False

    def run(self, words: Sequence[str], seconds: float,
            descriptors: List[int]) -> Tuple[int, bytes, bytes]:
        """Exit code, output and errors. Raises Cancelled, and TimeoutExpired after `seconds`."""
        with self._lock:
            if self._cancelled:
                raise Cancelled
            process = self._process = subprocess.Popen(
                words,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                pass_fds=descriptors,
                start_new_session=True,
            )
        try:
            out, said = process.communicate(timeout=seconds)
        except BaseException:
            self.end()
            process.communicate()
            raise
        finally:
            with self._lock:
                self._process = None
        if self._cancelled:
            raise Cancelled
        return process.returncode, out, said

    def end(self) -> None:
        """Ends the process and those that it started, now or as soon as there is one."""
        with self._lock:
            self._cancelled = True
        self._signal(signal.SIGTERM)
        later = threading.Timer(GRACE_SECONDS, self._signal, (signal.SIGKILL,))
        later.daemon = True
        later.start()

    def _signal(self, number: int) -> None:
        # Under the lock it has not been waited for, so that no other process has its number.
        with self._lock, contextlib.suppress(ProcessLookupError):
            if self._process:
                os.killpg(self._process.pid, number)


_call: contextvars.ContextVar[Call] = contextvars.ContextVar("call")
_calls: Set[Call] = set()


@contextlib.contextmanager
def call() -> Iterator[Call]:
    """The call that current() gives within; what runs for it ends when the block is left early."""
    one = Call()
    before = _call.set(one)
    _calls.add(one)
    try:
        yield one
    except BaseException:
        one.end()
        raise
    finally:
        _calls.discard(one)
        _call.reset(before)


def current() -> Call:
    """The call that is answered; a new one outside of any."""
    return _call.get(None) or Call()


def end_all() -> None:
    for one in list(_calls):
        one.end()


def end_with_the_server() -> None:
    """Has a signal that ends the server end what runs for it: those processes are no group of
    it."""

    def end(number: int, _frame: object) -> None:
        end_all()
        signal.signal(number, signal.SIG_DFL)
        signal.raise_signal(number)

    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        signal.signal(number, end)
