"""Stop a run in good order when a signal asks for it.

Python runs the handlers of signals in the main thread, and only between two of its own
instructions: none of them runs while XLA compiles for a minute.  So a thread answers them here.
"""

import contextlib
import multiprocessing
import os
import signal
import threading

SIGNALS = tuple(
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
)


_active = None  # the StopRequest that is entered


def _leave_to_parent():
    """In a forked process: Ctrl-C reaches it too, and must not be counted twice."""
    if _active is not None:
        _active._restore()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_leave_to_parent)


class Stopped(Exception):
    """A signal asked the run to end; `exit_code` is 128 + its number."""

    def __init__(self, number):
        super().__init__(signal.Signals(number).name)
        self.exit_code = 128 + number


class StopRequest:
    """Context manager: takes note of SIGINT (Ctrl-C), SIGTERM and SIGHUP (a lost terminal).

    The first one only sets `number`; the run asks `check` where it can stop.  If nothing would be
    lost, the process ends at once instead; so it does at the second one.  Signals that were
    ignored before (``nohup``, shells' background jobs) stay ignored.  Outside the main thread,
    where Python lets nobody handle signals, this does nothing.

    Parameters
    ----------
    say : callable of str
        Tells the user; called from another thread.
    nothing_to_lose : callable -> str or None
        What to say if the process can end at once, else None.

    Attributes
    ----------
    number : int or None
        The signal that came first.
    """

    def __init__(self, say, nothing_to_lose=lambda: None):
        self.say, self.nothing_to_lose = say, nothing_to_lose
        self.number = None
        self._before = {}

    def __enter__(self):
        global _active
        if threading.current_thread() is not threading.main_thread():
            return self
        self._read, self._write = os.pipe()
        os.set_blocking(self._write, False)
        # The wake-up pipe gets the number of a signal from the C handler, at once.
        self._old_wakeup = signal.set_wakeup_fd(self._write, warn_on_full_buffer=False)
        for number in SIGNALS:
            if signal.getsignal(number) is not signal.SIG_IGN:
                self._before[number] = signal.signal(number, lambda *_: None)
        self._thread = threading.Thread(target=self._answer, name="signals", daemon=True)
        self._thread.start()
        _active = self
        return self

    def __exit__(self, *_):
        if not hasattr(self, "_thread"):
            return
        self._restore()
        os.write(self._write, b"\0")  # no signal has the number 0: it ends the thread
        self._thread.join()
        os.close(self._read)
        os.close(self._write)

    def _restore(self):
        global _active
        _active = None
        for number, handler in self._before.items():
            # None: it wasn't installed from Python, and can't be from here.
            signal.signal(number, signal.SIG_DFL if handler is None else handler)
        signal.set_wakeup_fd(self._old_wakeup)

    def check(self):
        """Raise Stopped if a signal has come."""
        if self.number is not None:
            raise Stopped(self.number)

    def _answer(self):
        while (number := os.read(self._read, 1)[0]) != 0:
            if number not in self._before:
                continue  # another's
            if self.number is not None:
                self.say(f"{signal.Signals(number).name} again: leaving at once")
                self._leave(128 + number)
                return
            self.number = number
            if (message := self.nothing_to_lose()) is not None:
                self.say(message)
                self._leave(128 + number)
                return
            self.say(
                f"{signal.Signals(number).name}: finishing the running step and writing a "
                f"checkpoint; once more to leave at once"
            )

    @staticmethod
    def _leave(code):
        """End the process from any thread, whatever the main thread is doing."""
        # They would outlive it, waiting for work.
        for child in multiprocessing.active_children():
            with contextlib.suppress(OSError, ValueError):
                child.kill()
        os._exit(code)
