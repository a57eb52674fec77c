"""Fetching files over kept-alive HTTP connections, many at a time."""

import base64
import queue
import random
import socket
import ssl
import sys
import threading
import time
from collections import deque
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from urllib.parse import unquote, urljoin, urlsplit
from urllib.request import getproxies_environment, proxy_bypass_environment

from tqdm import tqdm

CHUNK = 1 << 16


class DownloadError(RuntimeError):
    """The data could not be brought here; the message is one line and names the way out."""


class FetchError(Exception):
    """An attempt failed; `permanent` ones deserve one more attempt, not all of them."""

    def __init__(self, reason, permanent=False, retry_after=0.0):
        super().__init__(reason)
        self.permanent, self.retry_after = permanent, retry_after


class Stopped(Exception):
    """The run ends; the worker shall leave."""


@dataclass(frozen=True)
class Timing:
    """Patience with a server; all times in seconds."""

    connect: float = 10.0
    read: float = 30.0  # without any byte, or at less than `slowest`
    slowest: float = 1000.0  # bytes per second
    attempts: int = 6  # per file
    first_delay: float = 0.5  # doubled with every attempt
    longest_delay: float = 20.0
    longest_retry_after: float = 60.0
    report: float = 10.0  # between lines of progress where there is no terminal


# ------------------------------------------------------------------------------ one connection


def is_safe(url):
    """Whether an address is a valid one that nobody on the way can answer for.

    That is https, or http of this machine itself.
    """
    try:
        parts = urlsplit(url)
        here = parts.hostname in ("localhost", "127.0.0.1", "::1")
        valid = bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False
    return valid and (parts.scheme == "https" or (parts.scheme == "http" and here))


def _redirected(url, location):
    """Address that a Location header names; never from https to http."""
    try:
        target = urljoin(url, location)
    except ValueError:
        target = ""
    if not is_safe(target) or (url.startswith("https:") and target.startswith("http:")):
        raise FetchError(f"redirected to {location!r}", permanent=True)
    return target


def _proxy_for(parts):
    """(host, port, headers) of the proxy for an address, or None."""
    proxy = getproxies_environment().get(parts.scheme)
    if not proxy or proxy_bypass_environment(parts.netloc):
        return None
    where = urlsplit(proxy if "://" in proxy else f"http://{proxy}")
    try:
        host, port = where.hostname, where.port or 80
    except ValueError:
        host = None
    if where.scheme != "http" or not host:
        # Not shown: it may hold a password.
        raise DownloadError(f"the proxy in {parts.scheme}_proxy must be http://host:port")
    if where.username is None:
        return host, port, {}
    token = f"{unquote(where.username)}:{unquote(where.password or '')}".encode()
    return host, port, {"Proxy-Authorization": "Basic " + base64.b64encode(token).decode()}


class Session:
    """A kept-alive connection, which is made anew when it breaks or another server is asked.

    Proxies are taken from http_proxy, https_proxy and no_proxy. Once the threading.Event `stop`
    is set, whatever goes wrong raises Stopped.
    """

    def __init__(self, timing, stop=None):
        self.timing, self.stop = timing, stop or threading.Event()
        self._connection = self._socket = self._response = self._origin = self._proxy = None

    def close(self):
        """Drop the connection; the next request makes another."""
        for part in (self._response, self._connection):
            if part is not None:
                part.close()
        self._connection = self._socket = self._response = self._origin = None

    def abort(self):
        """Wake the session from whatever it waits for; called from another thread."""
        held = self._socket
        if held is not None:
            with suppress(OSError):
                # Not ssl's own shutdown: it would take the TLS state from under the session.
                socket.socket.shutdown(held, socket.SHUT_RDWR)

    @contextmanager
    def _network(self):
        """Turn what goes wrong on the network into a FetchError; the connection is dropped."""
        try:
            yield
        except (OSError, HTTPException, UnicodeError) as error:
            self.close()
            if self.stop.is_set():
                raise Stopped from None
            if isinstance(error, TimeoutError):
                raise FetchError(f"stalled or unreachable ({error or 'no answer'})") from None
            permanent = isinstance(error, ssl.SSLCertVerificationError)
            raise FetchError(f"{type(error).__name__}: {error}", permanent) from None
        except FetchError:
            self.close()
            raise

    def _connect(self, parts):
        """Have a connection to a server; True if it is a new one."""
        port = parts.port or (443 if parts.scheme == "https" else 80)
        origin = (parts.scheme, parts.hostname, port)
        if self._origin == origin and self._connection.sock is not None:
            return False
        self.close()
        self._proxy = _proxy_for(parts)
        where = self._proxy[:2] if self._proxy else origin[1:]
        kind = HTTPSConnection if parts.scheme == "https" else HTTPConnection
        self._connection = connection = kind(*where, timeout=self.timing.connect)
        if self._proxy and parts.scheme == "https":
            connection.set_tunnel(*origin[1:], headers=self._proxy[2])
        connection.connect()
        connection.sock.settimeout(self.timing.read)
        self._socket, self._origin = connection.sock, origin
        return True

    def _exchange(self, url, headers):
        parts = urlsplit(url)
        fresh = self._connect(parts)
        target, sent = parts.path or "/", {"User-Agent": "coco-subset/1", **headers}
        if parts.query:
            target += "?" + parts.query
        if self._proxy and parts.scheme == "http":
            target, sent = url, sent | self._proxy[2]
        try:
            self._connection.request("GET", target, headers=sent)
            self._response = self._connection.getresponse()
        except ConnectionError:
            # A server may close a kept-alive connection at any time; that is no failure.
            if fresh or self.stop.is_set():
                raise
            self.close()
            return self._exchange(url, headers)
        return self._response

    def open(self, url, headers=None):
        """Send a GET, follow redirects, and return the HTTPResponse.

        Its status is 200, 206 or 416; any other one is a FetchError.
        """
        with self._network():
            for _ in range(5):
                response = self._exchange(url, headers or {})
                status = response.status
                if status in (200, 206, 416):
                    return response
                if response.length is not None and response.length <= CHUNK:
                    response.read()  # so that the connection can be used again
                else:
                    self.close()
                location = response.headers.get("Location")
                if status not in (301, 302, 303, 307, 308) or not location:
                    permanent = status < 500 and status not in (408, 425, 429)
                    wait = response.headers.get("Retry-After", "")
                    retry_after = float(wait) if wait.isdecimal() else 0.0
                    reason = f"HTTP status {status} {response.reason}"
                    raise FetchError(reason, permanent, retry_after)
                url = _redirected(url, location)
            raise FetchError("redirected too often", permanent=True)

    def chunks(self, response):
        """Yield the body of a response; a cut or stalled one ends with a FetchError."""
        expected, received, timing = response.length, 0, self.timing
        with self._network():
            begin, counted = time.monotonic(), 0
            while chunk := response.read1(CHUNK):
                received += len(chunk)
                # The time-out of the socket begins anew with every byte; this one doesn't.
                if (elapsed := time.monotonic() - begin) > timing.read:
                    if received - counted < timing.slowest * elapsed:
                        raise FetchError(f"stalled after {received} bytes")
                    begin, counted = begin + elapsed, received
                yield chunk
            if self.stop.is_set():
                raise Stopped
            if expected is not None and received != expected:
                raise FetchError(f"cut short: {received} of {expected} bytes")
            response.close()  # read1 leaves it open at the end; the connection can go on now

    def read(self, url, limit):
        """The body at an address, at most `limit` bytes of it."""
        body = bytearray()
        for chunk in self.chunks(self.open(url)):
            body += chunk
            if len(body) > limit:
                self.close()
                raise FetchError(f"has more than {limit} bytes")
        return bytes(body)

    def retry(self, attempt, measure=lambda: 0):
        """Call `attempt` until it succeeds, with longer and longer pauses.

        `measure` says how far the work has come; failures before new progress do not count. The
        last FetchError is raised when the attempts are used up.
        """
        timing, failures, furthest = self.timing, 0, measure()
        while True:
            try:
                return attempt()
            except FetchError as error:
                failures += 1
                if measure() > furthest:
                    furthest, failures = measure(), 1
                if failures >= (2 if error.permanent else timing.attempts):
                    raise
                delay = min(timing.first_delay * 2 ** (failures - 1), timing.longest_delay)
                asked = min(error.retry_after, timing.longest_retry_after)
                # Jitter, so that the workers don't all come back at once.
                if self.stop.wait(max(delay * random.uniform(0.5, 1), asked)):
                    raise Stopped from None


# ------------------------------------------------------------------------------ many of them


class Workers:
    """Threads that call ``work(session, job)``; results come out in the caller's thread.

    A FetchError is that job's result; any other exception ends the run. The threads are daemons
    of their own, as an executor's would keep an interrupted program alive until the last server
    has answered.
    """

    def __init__(self, count, jobs, work, timing):
        self._jobs, self._count, self._work = deque(jobs), len(jobs), work
        self._results, self._stop = queue.SimpleQueue(), threading.Event()
        self._sessions = [Session(timing, self._stop) for _ in range(min(count, len(jobs)))]
        self._threads = [
            threading.Thread(target=self._run, args=(session,), daemon=True)
            for session in self._sessions
        ]

    def _run(self, session):
        try:
            while not self._stop.is_set():
                try:
                    job = self._jobs.popleft()
                except IndexError:
                    return
                try:
                    result = self._work(session, job)
                except FetchError as error:
                    result = error
                self._results.put((job, result))
        except Stopped:
            pass
        except BaseException as error:
            self._results.put((None, error))
        finally:
            session.close()

    def __enter__(self):
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self._stop.set()
        for session in self._sessions:
            session.abort()
        deadline = time.monotonic() + 1.5
        for thread in self._threads:
            thread.join(max(deadline - time.monotonic(), 0))

    def results(self):
        """Yield (job, result or FetchError) as they come."""
        for _ in range(self._count):
            job, result = self._results.get()
            if job is None:
                raise result
            yield job, result


# ------------------------------------------------------------------------------ progress


def megabytes(size):
    """A number of bytes as text."""
    return f"{size / 1e6:,.1f} MB"


class _Lines:
    """A stream that gets a new line where tqdm would write over the old one."""

    def __init__(self, stream):
        self.stream, self.flush = stream, stream.flush

    def write(self, text):
        if line := text.strip():
            self.stream.write(line + "\n")


def progress_bar(label, total, enabled, interval, **options):
    """A tqdm bar on standard error, or a line every `interval` seconds if that is no terminal."""
    terminal = sys.stderr.isatty()
    return tqdm(
        total=total,
        desc=label,
        disable=not enabled,
        file=sys.stderr if terminal else _Lines(sys.stderr),
        mininterval=0.2 if terminal else interval,
        miniters=1,
        **options,
    )
