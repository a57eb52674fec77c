"""A tiny COCO on a loopback server whose behaviour can be set for each path.

    with CocoServer(train=40, val=20) as server:
        server.set("train2017/000000000003.jpg", Answer(status=500), Answer(cut=100))
        ... COCO_BASE_URL = server.url ...
        assert server.requests["train2017/000000000003.jpg"] == 3

A test that lets a process fetch from it should clear the proxies of the environment;
`server.environment` has the variables for that.
"""

import io
import json
import socket
import struct
import threading
import zipfile
from collections import Counter
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
from PIL import Image

from tests.examples.conftest import annotation_of

ARCHIVE = "annotations/annotations_trainval2017.zip"
PERSON, DOG, PHONE = 1, 18, 77
CATEGORIES = [
    {"supercategory": "person", "id": PERSON, "name": "person"},
    {"supercategory": "animal", "id": DOG, "name": "dog"},
    {"supercategory": "electronic", "id": PHONE, "name": "cell phone"},
]
COLORS = {PERSON: (200, 40, 40), DOG: (40, 160, 40), PHONE: (30, 30, 220)}
# What the k-th picture shows (k modulo 10): half have a person, a fifth a phone.
SCENES = [
    (PERSON,),
    (PERSON, PHONE),
    (DOG,),
    (PERSON, PERSON),
    (DOG, PERSON),
    (PHONE,),
    (),
    (PERSON, DOG),
    (DOG, DOG),
    ("crowd",),
]


def _scene(rng, width, height, things, sides):
    """Return pixels uint8 (height, width, 3), and (category, box, iscrowd) of every thing."""
    pixels = rng.integers(90, 150, (height, width, 3), dtype=np.uint8)
    objects = []
    for thing in things:
        category, crowd = (PERSON, 1) if thing == "crowd" else (thing, 0)
        w, h = (int(rng.uniform(*sides) * side) for side in (width, height))
        x, y = int(rng.integers(0, width - w)), int(rng.integers(0, height - h))
        pixels[y : y + h, x : x + w] = COLORS[category]
        objects.append((category, [x, y, w, h], crowd))
    return pixels, objects


def make_coco(train=40, val=20, seed=0, sides=(0.2, 0.5)):
    """Make a tiny COCO 2017 of coloured rectangles; the k-th picture shows ``SCENES[k % 10]``.

    `sides` are the shortest and the longest of an object, as shares of the picture's. Returned are
    bytes by path, of the archive of annotations and the pictures, and the instances by split.
    """
    rng = np.random.default_rng(seed)
    files, instances = {}, {}
    for split, count in (("train", train), ("val", val)):
        images, annotations = [], []
        for k in range(count):
            image_id = 1000 * (split == "val") + k + 1
            width, height = ((96, 72), (72, 96), (80, 80))[k % 3]
            pixels, objects = _scene(rng, width, height, SCENES[k % len(SCENES)], sides)
            name, buffer = f"{image_id:012}.jpg", io.BytesIO()
            Image.fromarray(pixels).save(buffer, "JPEG")
            files[f"{split}2017/{name}"] = buffer.getvalue()
            images.append(
                {"id": image_id, "file_name": name, "width": width, "height": height, "license": 1}
            )
            for category, box, crowd in objects:
                x, y, w, h = box
                outline = [[x, y, x + w, y, x + w, y + h, x, y + h]]
                number = 10000 * (split == "val") + len(annotations) + 1
                own = annotation_of(number, image_id, category, box, crowd)
                annotations.append(own | {"segmentation": outline})
        instances[split] = {
            "info": {"description": "tiny"},
            "licenses": [{"id": 1, "name": "none"}],
            "images": images,
            "annotations": annotations,
            "categories": CATEGORIES,
        }
    files[ARCHIVE] = make_archive(instances)
    return files, instances


def make_archive(instances):
    """Return bytes of an archive with the instances files."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for split, data in instances.items():
            archive.writestr(f"annotations/instances_{split}2017.json", json.dumps(data))
        archive.writestr("annotations/captions_val2017.json", "{}")
    return buffer.getvalue()


@dataclass(frozen=True)
class Answer:
    """How one request is answered; by default as it should be."""

    status: int = 200
    body: bytes | None = None  # sent in place of the file
    headers: dict = field(default_factory=dict)  # added ones
    cut: int | None = None  # bytes after which the connection is closed
    delay: float = 0.0  # seconds before anything is sent
    reset: bool = False  # reset the connection without an answer
    stall: int | None = None  # bytes of the body after which nothing comes until the server closes


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def log_message(self, *_):
        pass

    def setup(self):
        super().setup()
        self.server.owner.connections += 1

    def do_GET(self):
        owner, path = self.server.owner, self.path.lstrip("/")
        answer = owner.next_answer(path)
        owner.closing.wait(answer.delay)
        if answer.reset:
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.connection.close()
            self.close_connection = True
            return
        body, status = owner.files.get(path, b"not found"), answer.status
        if answer.status != 200 or answer.body is not None:
            body = answer.body or b"an error page" * (answer.status != 200)
        elif path not in owner.files:
            status = 404
        self.send_response(status)
        for name, value in answer.headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        limit = answer.cut if answer.cut is not None else answer.stall
        self.wfile.write(body if limit is None else body[:limit])
        if answer.stall is not None:
            owner.closing.wait()
        if limit is not None:
            self.close_connection = True


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 128

    def handle_error(self, *_):
        pass  # clients that leave are what the tests are about


class CocoServer:
    """Serve a tiny COCO, of `make_coco`, from a free port of 127.0.0.1.

    `files` has the bytes by path, and may be changed; `requests` counts by path; `connections` are
    those accepted.
    """

    def __init__(self, train=40, val=20, seed=0, sides=(0.2, 0.5)):
        self.files, self.instances = make_coco(train, val, seed, sides)
        self.requests, self.connections = Counter(), 0
        self.closing = threading.Event()
        self._answers, self._lock = {}, threading.Lock()
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.owner = self
        self._thread = threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True
        )

    @property
    def url(self):
        return f"http://127.0.0.1:{self._server.server_port}"

    @property
    def environment(self):
        return {
            "COCO_BASE_URL": self.url,
            "COCO_ANNOTATIONS_SHA256": "unchecked",  # these aren't COCO's
            "no_proxy": "127.0.0.1",
            "NO_PROXY": "127.0.0.1",
        }

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self.closing.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def set(self, path, *answers, always=False):
        """Answer the next requests for a path with these, one each; with `always`, forever."""
        with self._lock:
            self._answers[path] = (list(answers), always)

    def next_answer(self, path):
        with self._lock:
            self.requests[path] += 1
            answers, always = self._answers.get(path, ([], False))
            if not answers:
                return Answer()
            return answers[0] if always else answers.pop(0)

    def set_instances(self, split, data):
        """Serve another instances file of a split."""
        self.instances[split] = data
        self.files[ARCHIVE] = make_archive(self.instances)
