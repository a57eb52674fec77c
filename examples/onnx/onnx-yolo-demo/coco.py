"""Download the part of COCO 2017 that some classes need.

    python coco.py data/coco --classes person "cell phone" --train-images 12000 --val-images 2000

ROOT then holds::

    annotations/instances_{train,val}2017.json   COCO's own files, as they came
    train2017/, val2017/                         the chosen pictures
    subsets/NAME/instances_{train,val}2017.json  the wanted classes of the chosen pictures
    failed_images.txt                            what could not be fetched, if anything

Everything that is there and good is kept: the same command goes on where an earlier one
stopped. COCO_BASE_URL names another server with COCO's layout (default
http://images.cocodataset.org); proxies are taken from http_proxy, https_proxy and no_proxy.

Pictures without a box of a wanted class are chosen for neither split. The average precision
that is measured on the validation part therefore says nothing of false detections in
pictures without any object; it is somewhat higher than one over all 5,000 of COCO.
"""

import argparse
import base64
import difflib
import hashlib
import io
import json
import math
import os
import queue
import random
import re
import shutil
import socket
import ssl
import stat
import string
import struct
import sys
import threading
import time
import zipfile
import zlib
from collections import Counter, deque
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from pathlib import Path, PurePosixPath
from typing import NamedTuple
from urllib.parse import quote, unquote, urljoin, urlsplit
from urllib.request import getproxies_environment, proxy_bypass_environment

from dataset import DataPaths
from PIL import Image, ImageOps
from tqdm import tqdm

BASE_URL = "http://images.cocodataset.org"
SPLITS = ("train", "val")
ARCHIVE = "annotations_trainval2017.zip"
ARCHIVE_BYTES = 252_907_541  # where the server does not say
UNPACKED_SHARE = 2.0  # bytes of the two instances files per byte of the archive
MEAN_IMAGE_BYTES = 163_000
MAX_IMAGE_BYTES = 16 << 20
IMAGE_FORMATS = ("JPEG", "PNG")
MAX_MEMBER_BYTES = 2 << 30  # COCO's largest file has 0.47 GB
MAX_MEMBER_RATIO = 200  # unpacked bytes per packed byte; JSON has about 4
MAX_FAILED_SHARE = 0.01  # of a split's pictures: from here on it is an error
MAX_FAILED_IN_ROW = 50  # then the server is taken to be gone
SLOWEST = 1000  # bytes per second; less than that for a whole time-out is a stall
CHUNK = 1 << 16
LOCK, INDEX, FAILED = ".download.lock", ".verified.jsonl", "failed_images.txt"
VERSION = 1  # of the selection rule; to be raised whenever it chooses otherwise


class DownloadError(RuntimeError):
    """The data could not be brought here; the message is one line and names the way out."""


class _RefusedArchive(DownloadError):
    """The archive of annotations holds what it must not."""


@dataclass(frozen=True)
class Timing:
    """Patience with a server; all times in seconds."""

    connect: float = 10.0
    read: float = 30.0  # without any byte, or with fewer than `SLOWEST` bytes per second
    attempts: int = 6  # per file
    first_delay: float = 0.5  # doubled with every attempt
    longest_delay: float = 20.0
    longest_retry_after: float = 60.0
    report: float = 10.0  # between lines where there is no terminal


TIMING = Timing()


# ----------------------------------------------------------------------------- one connection


class _FetchError(Exception):
    """An attempt failed; `permanent` ones deserve one more attempt, not all of them."""

    def __init__(self, reason, permanent=False, retry_after=0.0):
        super().__init__(reason)
        self.permanent, self.retry_after = permanent, retry_after


class _Stopped(Exception):
    """The run ends; the worker shall leave."""


def base_url():
    """Address that COCO's files are fetched from, without a trailing slash.

    Returns
    -------
    str
        The value of the environment variable COCO_BASE_URL, or COCO's own address.

    Raises
    ------
    DownloadError
        It is not an http or https address.
    """
    url = os.environ.get("COCO_BASE_URL", "").strip() or BASE_URL
    try:
        parts = urlsplit(url)
        valid = parts.hostname and (parts.port is None or parts.port > 0)
    except ValueError as error:
        raise DownloadError(f"COCO_BASE_URL is {url!r}: {error}") from None
    if parts.scheme not in ("http", "https") or not valid:
        raise DownloadError(f"COCO_BASE_URL is {url!r}; it must start with http:// or https://")
    plain = url.isascii() and url.isprintable() and " " not in url
    if not plain or parts.query or parts.fragment or parts.username is not None:
        raise DownloadError(
            f"COCO_BASE_URL of {parts.hostname} must be an ASCII address without user, "
            "spaces, ? and #"
        )
    return url.rstrip("/")


def _retry_after(text):
    """Seconds that a Retry-After header asks for; 0 where it cannot be read."""
    text = (text or "").strip()
    if text.isdecimal():
        return float(text)
    try:
        return max(parsedate_to_datetime(text).timestamp() - time.time(), 0.0)
    except ValueError:
        return 0.0


def _redirected(url, location):
    """Address that a Location header names; never from https to http."""
    schemes = ("https",) if url.startswith("https:") else ("http", "https")
    try:
        # Servers send raw bytes too, which http.client hands on as Latin-1.
        url = urljoin(url, quote(location, encoding="iso-8859-1", safe=string.punctuation))
        parts = urlsplit(url)
        valid = parts.scheme in schemes and parts.hostname and parts.port != 0
    except ValueError:
        valid = False
    if not valid:
        raise _FetchError(f"redirected to {location!r}", permanent=True)
    return url


def _basic(user, password):
    token = f"{unquote(user)}:{unquote(password or '')}".encode()
    return {"Proxy-Authorization": "Basic " + base64.b64encode(token).decode("ascii")}


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
    headers = {} if where.username is None else _basic(where.username, where.password)
    return host, port, headers


class _Session:
    """The kept-alive connection of one worker.

    `deadline` is when the exchange under way counts as stalled. Time-outs of the socket begin
    anew with every byte; a watcher in another thread calls `abort` after the deadline instead.
    """

    def __init__(self, timing, stop):
        self.timing, self.stop = timing, stop
        self.deadline, self.overdue = None, False
        self._connection = self._socket = self._response = self._origin = self._proxy = None
        self._tls = None

    def close(self):
        for part in (self._response, self._connection):
            if part is not None:
                part.close()
        self._connection = self._socket = self._response = self._origin = None

    def abort(self, overdue=False):
        """Wake the worker from whatever it waits for; called from another thread."""
        self.overdue |= overdue
        held = self._socket
        if held is not None:
            with suppress(OSError):
                # Not ssl's own shutdown: it would take the TLS state from under the worker.
                socket.socket.shutdown(held, socket.SHUT_RDWR)

    @contextmanager
    def _network(self):
        """Turn what goes wrong on the network into a _FetchError; the connection is dropped."""
        self.overdue = False
        try:
            yield
        except (OSError, HTTPException, UnicodeError) as error:
            self.close()
            if self.stop.is_set():
                raise _Stopped from None
            if self.overdue or isinstance(error, TimeoutError):
                raise _FetchError(f"stalled or unreachable ({error or 'no answer'})") from None
            permanent = isinstance(error, ssl.SSLCertVerificationError)
            raise _FetchError(f"{type(error).__name__}: {error}", permanent) from None
        except _FetchError:
            self.close()
            raise
        finally:
            self.deadline = None

    def _connect(self, parts):
        """Have a connection to a server; True if it is a new one."""
        port = parts.port or (443 if parts.scheme == "https" else 80)
        origin = (parts.scheme, parts.hostname, port)
        if self._origin == origin and self._connection.sock is not None:
            return False
        self.close()
        self._proxy = _proxy_for(parts)
        where = self._proxy[:2] if self._proxy else origin[1:]
        if parts.scheme == "https":
            self._tls = self._tls or ssl.create_default_context()
            connection = HTTPSConnection(*where, timeout=self.timing.connect, context=self._tls)
            if self._proxy:
                connection.set_tunnel(*origin[1:], headers=self._proxy[2])
        else:
            connection = HTTPConnection(*where, timeout=self.timing.connect)
        self._connection = connection
        connection.connect()
        connection.sock.settimeout(self.timing.read)
        self._socket, self._origin = connection.sock, origin
        return True

    def _exchange(self, url, headers):
        parts = urlsplit(url)
        fresh = self._connect(parts)
        target, headers = parts.path or "/", {"User-Agent": "coco-subset/1", **headers}
        if parts.query:
            target += "?" + parts.query
        if self._proxy and parts.scheme == "http":
            target, headers = url, headers | self._proxy[2]
        self.deadline = time.monotonic() + self.timing.read
        try:
            self._connection.request("GET", target, headers=headers)
            self._response = self._connection.getresponse()
        except ConnectionError:
            # A server may close a kept-alive connection at any time; that is no failure.
            if fresh or self.overdue or self.stop.is_set():
                raise
            self.close()
            return self._exchange(url, headers)
        return self._response

    def _drain(self, response):
        """Read away a short answer, so that the connection can be used again."""
        if response.length is not None and response.length <= CHUNK:
            response.read()
        else:
            self.close()

    def open(self, url, headers=None):
        """Send a GET and follow redirects.

        Returns
        -------
        http.client.HTTPResponse
            Of status 200, 206 or 416; any other one is a _FetchError.
        """
        with self._network():
            for _ in range(5):
                response = self._exchange(url, headers or {})
                status = response.status
                if status in (200, 206, 416):
                    return response
                location = response.headers.get("Location")
                retry_after = _retry_after(response.headers.get("Retry-After"))
                self._drain(response)
                if status not in (301, 302, 303, 307, 308) or not location:
                    permanent = status < 500 and status not in (408, 425, 429)
                    reason = f"HTTP status {status} {response.reason}"
                    raise _FetchError(reason, permanent, retry_after)
                url = _redirected(url, location)
            raise _FetchError("redirected too often", permanent=True)

    def chunks(self, response):
        """Yield the body of a response; a cut or stalled one ends with a _FetchError."""
        expected, received = response.length, 0
        with self._network():
            enough = SLOWEST * self.timing.read
            self.deadline = time.monotonic() + self.timing.read
            while chunk := response.read1(CHUNK):
                received += len(chunk)
                if received >= enough:
                    enough = received + SLOWEST * self.timing.read
                    self.deadline = time.monotonic() + self.timing.read
                yield chunk
            if self.stop.is_set():
                raise _Stopped
            if self.overdue:
                raise _FetchError(f"stalled after {received} bytes")
            if expected is not None and received != expected:
                raise _FetchError(f"cut short: {received} of {expected} bytes")
            response.close()  # read1 leaves it open at the end; the connection can go on now

    def read(self, url, limit):
        """The body at an address, at most `limit` bytes of it."""
        response = self.open(url)
        if response.status != 200:
            self.close()
            raise _FetchError(f"HTTP status {response.status} {response.reason}")
        if (encoding := response.headers.get("Content-Encoding", "identity")) != "identity":
            self.close()
            raise _FetchError(f"is encoded as {encoding}, which was not asked for")
        body = bytearray()
        for chunk in self.chunks(response):
            body += chunk
            if len(body) > limit:
                self.close()
                raise _FetchError(f"has more than {limit} bytes")
        return bytes(body)

    def retry(self, attempt, measure=None):
        """Call `attempt` until it succeeds, with longer and longer pauses.

        Parameters
        ----------
        attempt : callable without arguments
        measure : callable, optional
            Says how far the work has come; failures before new progress do not count.

        Raises
        ------
        _FetchError
            The last one, when the attempts are used up.
        """
        timing, failures = self.timing, 0
        furthest = measure() if measure else 0
        while True:
            try:
                return attempt()
            except _FetchError as error:
                failures += 1
                if measure and measure() > furthest:
                    furthest, failures = measure(), 1
                if failures >= (2 if error.permanent else timing.attempts):
                    raise
                delay = min(timing.first_delay * 2 ** (failures - 1), timing.longest_delay)
                asked = min(error.retry_after, timing.longest_retry_after)
                # Jitter, so that the workers don't all come back at once.
                if self.stop.wait(max(delay * random.uniform(0.5, 1), asked)):
                    raise _Stopped from None


# ------------------------------------------------------------------------------ many of them


class _Workers:
    """Threads that do jobs; the results come out in the caller's thread.

    The threads are daemons of their own, as an executor's would keep an interrupted program
    alive until the last server has answered.

    Parameters
    ----------
    count : int
    jobs : iterable
    work : callable (session, job) -> result
        A _FetchError is that job's result; any other exception ends the run.
    """

    def __init__(self, count, jobs, work, timing):
        self._jobs, self._work = deque(jobs), work
        self._left = len(self._jobs)
        self._results, self._stop = queue.SimpleQueue(), threading.Event()
        count = min(count, self._left)
        self._sessions = [_Session(timing, self._stop) for _ in range(count)]
        self._threads = [
            threading.Thread(target=self._run, args=(session,), daemon=True)
            for session in self._sessions
        ]

    def _next_job(self):
        if self._stop.is_set():
            return None
        try:
            return self._jobs.popleft()
        except IndexError:
            return None

    def _run(self, session):
        try:
            while (job := self._next_job()) is not None:
                try:
                    result = self._work(session, job)
                except _FetchError as error:
                    result = error
                self._results.put((job, result))
        except _Stopped:
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

    def results(self, tick):
        """Yield (job, result or _FetchError) as they come; call `tick` several times a second."""
        while self._left:
            now = time.monotonic()
            for session in self._sessions:
                if session.deadline is not None and now > session.deadline:
                    session.abort(overdue=True)
            tick()
            with suppress(queue.Empty):
                job, result = self._results.get(timeout=0.1)
                if job is None:
                    raise result
                self._left -= 1
                yield job, result


# ----------------------------------------------------------------------------------- progress


def _megabytes(size):
    return f"{size / 1e6:,.1f} MB"


def _duration(seconds):
    minutes, seconds = divmod(max(int(seconds), 0), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}"


class _Progress:
    """A bar on a terminal, elsewhere a line every few seconds, on standard error.

    Parameters
    ----------
    label : str
    files : int
        How many there are to fetch.
    interval : float
        Seconds between lines.
    enabled : bool
    """

    def __init__(self, label, files, interval, enabled):
        self.label, self.files, self.interval, self.enabled = label, files, interval, enabled
        self.done, self.size, self.total_size = 0, 0, None
        self._begin = self._last = time.monotonic()
        self._bar = None
        if enabled and sys.stderr.isatty():
            self._bar = tqdm(
                total=1.0, desc=label, bar_format="{percentage:3.0f}%|{bar:20}| {desc}"
            )

    def _share(self):
        if self.total_size:
            return min(self.size / self.total_size, 1.0)
        return self.done / self.files

    def text(self):
        """Files, megabytes, megabytes per second and the time left."""
        elapsed = max(time.monotonic() - self._begin, 1e-9)
        share = self._share()
        left = _duration(elapsed / share * (1 - share)) if share else "unknown"
        return (
            f"{self.done}/{self.files} files, {_megabytes(self.size)}, "
            f"{self.size / elapsed / 1e6:.2f} MB/s, {left} left"
        )

    def tick(self):
        now = time.monotonic()
        if self._bar is not None:
            self._bar.n = self._share()
            self._bar.set_description_str(f"{self.label}: {self.text()}", refresh=False)
            if now - self._last > 0.2:
                self._last = now
                self._bar.refresh()
        elif self.enabled and now - self._last >= self.interval:
            self._last = now
            print(f"{self.label}: {self.text()}", file=sys.stderr, flush=True)

    def close(self):
        if self._bar is not None:
            self.tick()
            self._bar.close()
        elif self.enabled:
            print(f"{self.label}: {self.text()}", file=sys.stderr, flush=True)


# ---------------------------------------------------------------------------------- selection


def _without_polygons(entry):
    # Called for each JSON object as it is read: the outlines are nine tenths of the file, and
    # all of them at once would take gigabytes of memory.
    entry.pop("segmentation", None)
    return entry


def _read_instances(path):
    """The content of an instances file, without the outlines; checked as far as is needed."""
    try:
        with open(path, encoding="utf-8") as file:
            data = json.load(file, object_hook=_without_polygons)
        names = Counter(image["file_name"] for image in data["images"])
        for image in data["images"]:
            name = image["file_name"]
            # The name becomes part of a path and of an address.
            if not re.fullmatch(r"[A-Za-z0-9_-][A-Za-z0-9._-]*", name) or names[name] > 1:
                raise ValueError(f"file_name {name!r} is unsafe or listed twice")
            if min(int(image["width"]), int(image["height"]), int(image["id"]) + 1) < 1:
                raise ValueError(f"image {name!r} has no size")
        for annotation in data["annotations"]:
            _ = annotation["image_id"], annotation["category_id"]
            _, _, _, _ = map(float, annotation["bbox"])
        _ = [(category["id"], category["name"]) for category in data["categories"]]
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        why = f"lacks {error}" if isinstance(error, KeyError) else error
        raise DownloadError(
            f"{path} is not a COCO instances file ({why}); delete it and run again"
        ) from None
    return data


def _category_ids(path, data, classes):
    """COCO category id of each class name; unknown names are an error that lists near ones."""
    available = {category["name"]: category["id"] for category in data["categories"]}
    for name in classes:
        if name in available:
            continue
        near = difflib.get_close_matches(name.lower(), available, n=4, cutoff=0.6)
        words = set(name.lower().split())
        near += [n for n in available if n not in near and words & set(n.split())]
        hint = f"near names: {', '.join(near)}" if near else f"it has {', '.join(available)}"
        raise DownloadError(f"{path.name} has no class {name!r}; {hint}")
    return {available[name]: name for name in classes}


def _classes_of_images(data, categories):
    """Wanted class names per image id, counting boxes with an area that are no crowd."""
    holds = {}
    for annotation in data["annotations"]:
        name = categories.get(annotation["category_id"])
        if name is None or annotation.get("iscrowd", 0) or min(annotation["bbox"][2:]) <= 0:
            continue
        holds.setdefault(annotation["image_id"], set()).add(name)
    listed = {image["id"] for image in data["images"]}
    return {image: names for image, names in holds.items() if image in listed}


def select_images(holds, count, seed=0):
    """Choose images so that every class gets its share.

    One image after the other is taken for the class that the fewest chosen images hold (of
    equals, the class that fewer images hold at all), as long as it has images left. A class
    with at most ``count / number of classes`` images is therefore chosen whole: every image with
    a cell phone, in the default setting, filled up with persons. Within a class the order
    comes from a hash of seed and id; it is the same on all machines, and a larger `count`
    only adds images.

    Parameters
    ----------
    holds : dict of int to set of str
        Image id to the names of the wanted classes it holds; at least one name each.
    count : int
        Images to choose; 0 takes all.
    seed : int

    Returns
    -------
    list of int
        Chosen image ids in ascending order; all of them where there are fewer than `count`.
    """
    if count == 0 or count >= len(holds):
        return sorted(holds)

    def rank(image):
        return hashlib.sha256(f"{seed}:{image}".encode()).digest(), image

    waiting = {}
    for image in sorted(holds, key=rank, reverse=True):
        for name in holds[image]:
            waiting.setdefault(name, []).append(image)
    order = sorted(waiting, key=lambda name: (len(waiting[name]), name))
    chosen, held = set(), dict.fromkeys(order, 0)
    while len(chosen) < count:
        name = min((n for n in order if waiting[n]), key=held.__getitem__)
        image = waiting[name].pop()
        if image not in chosen:
            chosen.add(image)
            for other in holds[image]:
                held[other] += 1
    return sorted(chosen)


class _Image(NamedTuple):
    """A picture to fetch."""

    split: str
    file_name: str
    width: int
    height: int

    @property
    def path(self):
        return f"{self.split}2017/{self.file_name}"


@dataclass
class _Selection:
    """Content of one split's instances file and the chosen images."""

    split: str
    data: dict
    categories: dict  # COCO's id to name, of the wanted classes
    holds: dict  # image id to wanted class names
    chosen: list  # image ids

    def images(self):
        chosen = set(self.chosen)
        return [
            _Image(self.split, image["file_name"], int(image["width"]), int(image["height"]))
            for image in self.data["images"]
            if image["id"] in chosen
        ]

    def summary(self):
        counts = Counter(name for image in self.chosen for name in self.holds[image])
        held = ", ".join(f"{counts[name]} with {name}" for name in self.categories.values())
        return f"{self.split}2017: {len(self.chosen)} of {len(self.holds)} images chosen ({held})"

    def subset(self, failed):
        """Instances dictionary of the chosen images and wanted classes.

        All annotations of those classes stay, crowd regions too, but for their outlines, which
        boxes don't need.

        Parameters
        ----------
        failed : set of str
            File names to leave out.
        """
        chosen = set(self.chosen)
        images = [
            image
            for image in self.data["images"]
            if image["id"] in chosen and image["file_name"] not in failed
        ]
        kept = {image["id"] for image in images}
        return {
            "info": self.data.get("info", {}),
            "licenses": self.data.get("licenses", []),
            "images": images,
            "annotations": [
                a
                for a in self.data["annotations"]
                if a["image_id"] in kept and a["category_id"] in self.categories
            ],
            "categories": [c for c in self.data["categories"] if c["id"] in self.categories],
        }


# -------------------------------------------------------------------------------------- files


def _write_whole(path, text):
    """Write a file under another name first, so that it is never seen half written."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(path.name + ".part")
    try:
        part.write_text(text, encoding="utf-8")
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)


@contextmanager
def _locked(root):
    """Keep other processes out of a folder; the system drops the lock of a dead process."""
    import fcntl  # here, so that the module can be imported where there is none

    with open(root / LOCK, "a+", encoding="utf-8") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.seek(0)
            raise DownloadError(
                f"another process downloads into {root} ({file.read().strip() or 'just begun'}); "
                "wait for it or stop it"
            ) from None
        file.truncate(0)
        file.write(f"process {os.getpid()} on {socket.gethostname()}")
        file.flush()
        try:
            yield
        finally:
            file.truncate(0)


def _check_space(root, needed, what):
    """Raise DownloadError if the disk has no room for `needed` bytes and some reserve."""
    needed, free = math.ceil(needed * 1.05), shutil.disk_usage(root).free
    if free < needed:
        raise DownloadError(
            f"{what} needs {_megabytes(needed)} in {root}, but only {_megabytes(free)} are free; "
            "make room, choose fewer images or another folder"
        )


class _Index:
    """Sizes of the files that were found good, in an append-only file of JSON lines."""

    def __init__(self, root):
        self._root, self._file, self.sizes = root, None, {}
        self._present = {}
        path = root / INDEX
        for line in path.read_bytes().splitlines() if path.exists() else ():
            # A killed process may leave a torn line; its picture is checked again.
            with suppress(ValueError, KeyError, TypeError):
                entry = json.loads(line)
                self.sizes[entry["file"]] = int(entry["size"])

    def has(self, image):
        """Whether a picture is there, of the size that was found good."""
        folder = f"{image.split}2017"
        if folder not in self._present:
            self._present[folder] = {}
            if (self._root / folder).is_dir():
                with os.scandir(self._root / folder) as entries:
                    files = {e.name: e.stat().st_size for e in entries if e.is_file()}
                self._present[folder] = files
        size = self._present[folder].get(image.file_name)
        return size is not None and self.sizes.get(image.path) == size

    def __enter__(self):
        path = self._root / INDEX
        torn = path.exists() and not path.read_bytes().endswith(b"\n")
        self._file = path.open("a", encoding="utf-8", buffering=1)
        if torn and path.stat().st_size:
            self._file.write("\n")
        return self

    def __exit__(self, *_):
        self._file.close()

    def add(self, image, size):
        self.sizes[image.path] = size
        self._file.write(json.dumps({"file": image.path, "size": size}) + "\n")


# What Pillow raises for bytes that are not, or not wholly, a picture.
NOT_DECODED = (
    OSError,
    SyntaxError,
    ValueError,
    IndexError,
    TypeError,
    struct.error,
    Image.DecompressionBombError,
    Image.DecompressionBombWarning,
)


def _image_problem(body, image):
    """What is wrong with the bytes of a picture, or None."""
    try:
        with Image.open(io.BytesIO(body), formats=IMAGE_FORMATS) as picture:
            size = picture.size
            if max(size) <= max(image.width, image.height):  # nothing huge is decoded
                picture.load()
                size = ImageOps.exif_transpose(picture).size
    except NOT_DECODED as error:
        return f"is no whole picture ({error})"
    if size != (image.width, image.height):
        return f"is {size[0]}x{size[1]}, not {image.width}x{image.height} as annotated"
    return None


def _checked_members(archive):
    """The two instances files of the archive; anything unsafe in it is refused by name."""
    wanted = {f"annotations/instances_{split}2017.json": [] for split in SPLITS}
    for member in archive.infolist():
        name, problem = member.filename, None
        path = PurePosixPath(name.replace("\\", "/"))
        mode = member.external_attr >> 16
        if path.is_absolute() or ".." in path.parts or re.match(r"[A-Za-z]:", name):
            problem = "leaves its folder"
        elif stat.S_IFMT(mode) not in (0, stat.S_IFREG, stat.S_IFDIR):
            problem = "is a link or a special file"
        elif member.file_size > MAX_MEMBER_BYTES or member.file_size > MAX_MEMBER_RATIO * max(
            member.compress_size, 1 << 12
        ):
            problem = f"would unpack to {_megabytes(member.file_size)}"
        elif member.flag_bits & 1:
            problem = "is encrypted"
        elif member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            problem = f"is packed by method {member.compress_type}"
        if problem:
            raise _RefusedArchive(f"{ARCHIVE} is refused and was deleted: {name!r} {problem}")
        if name in wanted:
            wanted[name].append(member)
    for name, members in wanted.items():
        if len(members) != 1:
            raise _RefusedArchive(
                f"{ARCHIVE} is refused and was deleted: it holds {name} {len(members)} times"
            )
    return [members[0] for members in wanted.values()]


def _unpack(path, folder):
    """Unpack the two instances files of the archive at `path` into `folder`.

    Raises
    ------
    DownloadError
        The archive is unsafe, or the disk is full.
    zipfile.BadZipFile
        It is damaged.
    """
    parts = []
    try:
        with zipfile.ZipFile(path) as archive:
            members = _checked_members(archive)
            _check_space(folder, sum(m.file_size for m in members), "unpacking the annotations")
            for member in members:
                target = folder / PurePosixPath(member.filename).name
                parts.append((target.with_name(target.name + ".part"), target))
                with archive.open(member) as source, parts[-1][0].open("wb") as file:
                    shutil.copyfileobj(source, file, 1 << 20)
        for part, target in parts:
            os.replace(part, target)
    except (zlib.error, EOFError) as error:
        raise zipfile.BadZipFile(str(error)) from None
    finally:
        for part, _ in parts:
            part.unlink(missing_ok=True)


class _Archive:
    """The archive of annotations on its way here: its part on the disk and where it stopped.

    A note beside the part says which address, length and version of the file it belongs to.
    """

    def __init__(self, url, folder, image_bytes, progress):
        self.url, self.folder, self.progress = url, folder, progress
        self.image_bytes = image_bytes  # that will be fetched after it, as far as is known
        self.part = folder / (ARCHIVE + ".part")
        self.note = folder / (ARCHIVE + ".part.json")

    def size(self):
        return self.part.stat().st_size if self.part.exists() else 0

    def discard(self):
        self.part.unlink(missing_ok=True)
        self.note.unlink(missing_ok=True)

    def _resumable(self):
        """The note, if the part can be gone on with; otherwise None, and nothing is left."""
        try:
            note = json.loads(self.note.read_text(encoding="utf-8"))
            if note["url"] == self.url and 0 < self.size() <= (note["length"] or 0):
                return note
        except (FileNotFoundError, ValueError, KeyError, TypeError):
            pass  # a part without a readable note is worth nothing
        self.discard()
        return None

    def fetch(self, session, _):
        """Do the whole transfer, in as many attempts as it takes."""
        session.retry(lambda: self._attempt(session), self.size)

    def _attempt(self, session):
        note = self._resumable()
        if note is None or self.size() < note["length"]:
            self._transfer(session, note)
        if not zipfile.is_zipfile(self.part):
            self.discard()
            raise _FetchError("is no zip archive")

    def _transfer(self, session, note):
        headers = {}
        if note:
            headers["Range"] = f"bytes={self.size()}-"
            if note["validator"]:
                headers["If-Range"] = note["validator"]
        response = session.open(self.url, headers)
        resumed = response.status == 206
        if response.status == 416 or (resumed and not self._continues(response, note)):
            session.close()
            self.discard()
            raise _FetchError("the server's file has changed; begun again")
        if not resumed:
            self._begin(response)
        self._check_room(response.length)
        self.progress.total_size = self.progress.size + (response.length or ARCHIVE_BYTES)
        with self.part.open("ab") as file:
            for chunk in session.chunks(response):
                file.write(chunk)
                self.progress.size += len(chunk)

    def _check_room(self, length):
        # What is left of the archive, the unpacked files, and the pictures.
        left = ARCHIVE_BYTES if length is None else length
        unpacked = UNPACKED_SHARE * (self.size() + left)
        _check_space(self.folder, left + unpacked + self.image_bytes, "the download")

    def _continues(self, response, note):
        """Whether a partial answer begins where the part ends, in a file of the same length."""
        found = re.fullmatch(r"bytes (\d+)-\d+/(\d+)", response.headers.get("Content-Range", ""))
        if not note or not found:
            return False
        etag, validator = response.headers.get("ETag"), note["validator"] or ""
        if etag and validator.startswith('"') and etag != validator:
            return False
        return [int(group) for group in found.groups()] == [self.size(), note["length"]]

    def _begin(self, response):
        """Make an empty part, with the note of the file that the server has now."""
        self.discard()
        etag = response.headers.get("ETag")
        if etag and etag.startswith("W/"):
            etag = None  # weak ones do not vouch for the bytes
        validator = etag or response.headers.get("Last-Modified")
        note = {"url": self.url, "length": response.length, "validator": validator}
        _write_whole(self.note, json.dumps(note))
        self.part.touch()
        self.progress.size = 0


# --------------------------------------------------------------------------------- the whole


def _slug(classes, train_images, val_images, seed):
    """Name of the subset's folder."""
    names = "+".join(re.sub(r"[^a-z0-9]+", "-", name.lower()) for name in sorted(classes))
    if len(names) > 60:
        digest = hashlib.sha256("\n".join(sorted(classes)).encode()).hexdigest()[:12]
        names = f"{len(classes)}-classes-{digest}"
    counts = [f"{s}{n or 'all'}" for s, n in zip(SPLITS, (train_images, val_images), strict=True)]
    return "_".join([names, *counts, f"seed{seed}"])


class _Download:
    """One call of `download_coco`."""

    def __init__(self, root, classes, counts, connections, seed, progress):
        if not classes or len(set(classes)) != len(classes):
            raise DownloadError(f"classes must be distinct names, at least one; got {classes}")
        for what, value, least in [("connections", connections, 1), ("seed", seed, 0)] + [
            (f"{split}_images", count, 0) for split, count in counts.items()
        ]:
            if value < least:
                raise DownloadError(f"{what} is {value}; it must be at least {least}")
        self.root, self.classes, self.counts = Path(root), classes, counts
        self.connections, self.seed, self.progress = connections, seed, progress
        self.base, self.timing = base_url(), TIMING
        self.annotations = self.root / "annotations"
        self.subset = self.root / "subsets" / _slug(classes, *counts.values(), seed)

    @property
    def paths(self):
        return DataPaths(
            self.subset / "instances_train2017.json",
            self.root / "train2017",
            self.subset / "instances_val2017.json",
            self.root / "val2017",
        )

    def _instances(self, split):
        return self.annotations / f"instances_{split}2017.json"

    def _record(self):
        """What a finished subset was made from."""
        return {
            "version": VERSION,
            "classes": sorted(self.classes),
            "images": self.counts,
            "seed": self.seed,
            "annotation_bytes": {s: self._instances(s).stat().st_size for s in SPLITS},
            "failed": [],
        }

    def finished(self):
        """Whether an earlier run has left everything complete.

        It reads the small files only, and needs no lock: any number of processes may ask.
        """
        try:
            record = json.loads((self.subset / "subset.json").read_text(encoding="utf-8"))
            if record != self._record():
                return False
            index = _Index(self.root)
            for split, path in zip(SPLITS, (self.paths[0], self.paths[2]), strict=True):
                images = json.loads(path.read_text(encoding="utf-8"))["images"]
                if not all(index.has(_Image(split, i["file_name"], 0, 0)) for i in images):
                    return False
        except (OSError, ValueError, KeyError, TypeError):
            return False  # not made, or damaged: the subset is made again
        return True

    def say(self, text):
        if self.progress:
            print(text, file=sys.stderr, flush=True)

    # The steps, in their order.

    def fetch_annotations(self):
        """Have COCO's two instances files."""
        self.annotations.mkdir(parents=True, exist_ok=True)
        if all(self._instances(split).exists() for split in SPLITS):
            return
        there = sum(_Index(self.root).sizes.values())
        images = max(sum(self.counts.values()) * MEAN_IMAGE_BYTES - there, 0)
        progress = _Progress("annotations", 1, self.timing.report, self.progress)
        archive = _Archive(f"{self.base}/annotations/{ARCHIVE}", self.annotations, images, progress)
        try:
            for last in (False, True):
                self._fetch_archive(archive)
                try:
                    _unpack(archive.part, self.annotations)
                except zipfile.BadZipFile as error:
                    archive.discard()
                    if last:
                        raise DownloadError(f"{archive.url} is damaged: {error}") from None
                except _RefusedArchive:
                    archive.discard()
                    raise
                else:
                    archive.discard()
                    return
        finally:
            progress.close()

    def _fetch_archive(self, archive):
        with _Workers(1, [archive], archive.fetch, self.timing) as workers:
            for _, result in workers.results(archive.progress.tick):
                if isinstance(result, _FetchError):
                    raise DownloadError(
                        f"{archive.url}: {result}; what is there stays, run again to go on"
                    )
                archive.progress.done = 1

    def select(self):
        """Choose the images of either split."""
        selections = []
        for split in SPLITS:
            path = self._instances(split)
            data = _read_instances(path)
            categories = _category_ids(path, data, self.classes)
            holds = _classes_of_images(data, categories)
            if not holds:
                raise DownloadError(f"{path.name} has no image with {', '.join(self.classes)}")
            # What is not wanted would fill a gigabyte during the whole download.
            data["annotations"] = [a for a in data["annotations"] if a["category_id"] in categories]
            chosen = select_images(holds, self.counts[split], self.seed)
            selections.append(_Selection(split, data, categories, holds, chosen))
        return selections

    def fetch_images(self, images, index):
        """Have all images.

        Returns
        -------
        dict of _Image to str
            Those that could not be fetched, with the reason.
        """
        for split in SPLITS:
            folder = self.root / f"{split}2017"
            folder.mkdir(exist_ok=True)
            for part in folder.glob("*.part"):  # of a process that was killed
                part.unlink()
        missing = [image for image in images if not index.has(image)]
        if not missing:
            self._list_failed({})
            return {}
        _check_space(self.root, len(missing) * MEAN_IMAGE_BYTES, f"fetching {len(missing)} images")
        progress = _Progress("images", len(missing), self.timing.report, self.progress)
        failed, in_row = {}, 0
        try:
            with _Workers(self.connections, missing, self._fetch_image, self.timing) as workers:
                for image, result in workers.results(progress.tick):
                    progress.done += 1
                    if isinstance(result, _FetchError):
                        failed[image] = str(result)
                        in_row += not result.permanent  # a 404 comes from a server that is there
                        if in_row >= MAX_FAILED_IN_ROW:
                            break
                        continue
                    in_row = 0
                    index.add(image, result[0])
                    progress.size += result[1]
        finally:
            progress.close()
            self._list_failed(failed)
        if in_row >= MAX_FAILED_IN_ROW:
            raise DownloadError(
                f"{in_row} images in a row failed (last: {image.path}: {failed[image]}), the "
                "server seems to be gone; what was downloaded stays, run again to go on"
            )
        return failed

    def _fetch_image(self, session, image):
        """(size, bytes fetched) of a picture that is there and good afterwards."""
        path = self.root / image.path
        if path.exists():
            body = path.read_bytes()
            if _image_problem(body, image) is None:
                return len(body), 0
            path.unlink()
        url = f"{self.base}/{quote(image.path)}"

        def attempt():
            body = session.read(url, MAX_IMAGE_BYTES)
            if problem := _image_problem(body, image):
                # The rest of a wrong answer may still be on its way on this connection.
                session.close()
                raise _FetchError(problem)
            return body

        body = session.retry(attempt)
        if session.stop.is_set():
            raise _Stopped
        part = path.with_name(path.name + ".part")
        try:
            part.write_bytes(body)
            os.replace(part, path)
        finally:
            part.unlink(missing_ok=True)
        return len(body), len(body)

    def _list_failed(self, failed):
        path = self.root / FAILED
        if not failed:
            path.unlink(missing_ok=True)
            return
        lines = [f"{image.path}\t{' '.join(why.split())}" for image, why in sorted(failed.items())]
        _write_whole(path, "\n".join(lines) + "\n")
        print(f"warning: {len(lines)} images failed, see {path}:", file=sys.stderr)
        for line in lines[:10]:
            print("  " + line.replace("\t", ": "), file=sys.stderr)

    def judge(self, selections, failed):
        """Raise DownloadError where too many images of a split have failed."""
        troubles = []
        for selection in selections:
            count = sum(image.split == selection.split for image in failed)
            if count >= MAX_FAILED_SHARE * len(selection.chosen) and count:
                troubles.append(f"{count} of {len(selection.chosen)} in {selection.split}2017")
        if troubles:
            raise DownloadError(
                f"too many images failed: {' and '.join(troubles)} (allowed is less than "
                f"{MAX_FAILED_SHARE:.0%}), listed in {self.root / FAILED}; "
                "what was downloaded stays, run again to go on"
            )

    def write_subset(self, selections, failed):
        record = self.subset / "subset.json"
        record.unlink(missing_ok=True)  # it vouches for the two files
        for selection, path in zip(selections, (self.paths[0], self.paths[2]), strict=True):
            names = {image.file_name for image in failed if image.split == selection.split}
            _write_whole(path, json.dumps(selection.subset(names)))
        made_from = self._record() | {"failed": sorted(image.path for image in failed)}
        _write_whole(record, json.dumps(made_from, indent=1))

    @contextmanager
    def opened(self):
        """Own the folder; errors of the disk and interruptions get their words."""
        try:
            self.root.mkdir(parents=True, exist_ok=True)
            with _locked(self.root):
                yield
        except OSError as error:
            what = f"{error.filename}: {error.strerror}" if error.filename else error
            raise DownloadError(f"cannot use {self.root}: {what}") from None
        except KeyboardInterrupt:
            print("download interrupted; run again to go on where it stopped", file=sys.stderr)
            raise

    def run(self):
        if self.finished():
            self.say(f"{self.subset} is complete")
            return self.paths
        with self.opened():
            self.fetch_annotations()
            selections = self.select()
            for selection in selections:
                self.say(selection.summary())
            images = [image for selection in selections for image in selection.images()]
            with _Index(self.root) as index:
                failed = self.fetch_images(images, index)
            self.judge(selections, failed)
            self.write_subset(selections, failed)
        return self.paths

    def describe(self):
        """The selection and its bytes, as text; fetches the annotations if need be."""
        with self.opened():
            self.fetch_annotations()
            index, lines = _Index(self.root), []
            for selection in self.select():
                images = selection.images()
                there = [index.sizes[image.path] for image in images if index.has(image)]
                missing = len(images) - len(there)
                lines.append(selection.summary())
                lines.append(
                    f"  {len(there)} are there ({_megabytes(sum(there))}), {missing} to fetch "
                    f"(about {_megabytes(missing * MEAN_IMAGE_BYTES)})"
                )
        return "\n".join(lines)


def download_coco(
    root, classes, train_images=12000, val_images=2000, connections=32, seed=0, progress=True
):
    """Download what some classes need of COCO 2017, and write subset annotation files.

    A call that was interrupted goes on where it stopped, and one whose data are complete
    returns after a look at the files' sizes. Failed images are retried; fewer than 1 % of a
    split are left out of the subset with a warning. Images that were fetched before and other
    files in `root` stay.

    Parameters
    ----------
    root : path-like
        Folder for the data; made if need be.
    classes : sequence of str
        COCO's names of the wanted categories.
    train_images, val_images : int
        Images to choose of train2017 and val2017, see `select_images`; 0 takes all that hold a
        box of a wanted class. Images with crowd regions only, or without a wanted object, are
        never chosen.
    connections : int
        Kept-alive connections that fetch at once.
    seed : int
        Of the selection.
    progress : bool
        Report on standard error. Failed images and interruptions are reported anyhow.

    Returns
    -------
    dataset.DataPaths
        The subset's annotation files and the image folders.

    Raises
    ------
    DownloadError
        An unknown class, no room on the disk, a server that doesn't deliver, too many failed
        images, another process in the same folder, or wrong settings.
    """
    counts = dict(zip(SPLITS, (train_images, val_images), strict=True))
    return _Download(root, list(classes), counts, connections, seed, progress).run()


def parse_arguments(arguments=None):
    """Options of the command line as a namespace."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("root", metavar="ROOT", help="folder for the data")
    add("--classes", nargs="+", default=["person", "cell phone"], metavar="NAME")
    add("--train-images", type=int, default=12000, help="0: all that hold a wanted class")
    add("--val-images", type=int, default=2000, help="0: all that hold a wanted class")
    add("--connections", type=int, default=32)
    add("--seed", type=int, default=0, help="of the selection")
    add("--dry-run", action="store_true", help="print the selection and its bytes, fetch no image")
    add("--quiet", action="store_true", help="no progress")
    return parser.parse_args(arguments)


def main(arguments=None):
    """Download as the command line says.

    Returns
    -------
    int
        The exit code: 0, 1 after an error, 130 after an interruption.
    """
    options = parse_arguments(arguments)
    counts = {"train": options.train_images, "val": options.val_images}
    settings = (options.root, options.classes, counts, options.connections, options.seed)
    try:
        if options.dry_run:
            print(_Download(*settings, progress=not options.quiet).describe())
        else:
            paths = _Download(*settings, progress=not options.quiet).run()
            for name, path in zip(DataPaths._fields, paths, strict=True):
                print(f"{name}: {path}")
    except DownloadError as error:
        print(f"error: {' '.join(str(error).split())}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
