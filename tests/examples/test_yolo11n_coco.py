"""Download of a part of COCO for the YOLO11n demo, from a loopback server that misbehaves."""

import hashlib
import io
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import threading
import time
import zipfile
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from data import coco, coco_archive, fetching
from data.coco import DownloadError, download_coco, main
from data.coco_files import INDEX, LOCK, Index, locked
from data.coco_selection import select_images
from data.fetching import FetchError, Session, Timing
from dataset import find_data, load_data
from PIL import Image

from tests.examples.coco_server import ARCHIVE, PHONE, Answer, CocoServer, make_archive

CLASSES = ["person", "cell phone"]
PHONE_IMAGE = "train2017/000000000002.jpg"  # always chosen, as it holds a phone
DEMO = Path(coco.__file__).parents[1]


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    """Patience of a test; no proxies."""
    timing = Timing(
        connect=2,
        read=0.4,
        slowest=100,  # the pictures of these tests are small
        attempts=3,
        first_delay=0.01,
        longest_delay=0.02,
        report=0.05,
    )
    monkeypatch.setattr(coco, "TIMING", timing)
    monkeypatch.setenv("COCO_ANNOTATIONS_SHA256", "unchecked")
    for name in list(os.environ):
        if name.lower().endswith("_proxy"):
            monkeypatch.delenv(name)


@pytest.fixture
def server(monkeypatch):
    with CocoServer(train=40, val=20) as server:
        monkeypatch.setenv("COCO_BASE_URL", server.url)
        yield server


@pytest.fixture
def root(tmp_path):
    return tmp_path / "coco"


def download(root, train=0, val=0, classes=CLASSES, **options):
    options = {"connections": 4, "progress": False} | options
    return download_coco(root, classes, train, val, **options)


def load(path):
    return json.loads(Path(path).read_text())


def names(path):
    return {Path(image["file_name"]).name for image in load(path)["images"]}


def wait_for(condition):
    deadline = time.monotonic() + 10
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def leftovers(root):
    return [str(p) for p in root.rglob("*.part*")]


# ---------------------------------------------------------------------------------- selection


@pytest.fixture
def skewed():
    """100 persons, of which 10 with a phone; 5 phones alone."""
    holds = {k: {"person"} | ({"phone"} if k % 10 == 0 else set()) for k in range(100)}
    return holds | {100 + k: {"phone"} for k in range(5)}


def test_a_rare_class_is_chosen_whole(skewed):
    chosen = select_images(skewed, 40)
    assert len(set(chosen)) == 40
    assert sum("phone" in skewed[k] for k in chosen) == 15


def test_every_cell_phone_of_coco_is_chosen():
    """With as many images as train2017 has, of which most phones are held by persons."""
    persons, phones = range(64115), range(64115 - 3600, 64115 + 1203)
    holds = {k: {"person"} for k in persons}
    for k in phones:
        holds.setdefault(k, set()).add("cell phone")
    chosen = select_images(holds, 12000)
    assert len(set(chosen)) == 12000
    assert set(phones) <= set(chosen)
    assert sum("person" in holds[k] for k in chosen) == 12000 - 1203


def test_common_classes_get_equal_shares():
    holds = {k: {"cat"} if k < 50 else {"dog"} for k in range(110)}
    chosen = select_images(holds, 52)
    assert sum(k < 50 for k in chosen) == 26


def test_many_classes_all_get_some():
    holds = {k: {f"c{min(k.bit_length(), 9)}"} for k in range(2000)}  # 1, 1, 2, 4, ... images
    chosen = select_images(holds, 60)
    counts = {}
    for k in chosen:
        for name in holds[k]:
            counts[name] = counts.get(name, 0) + 1
    assert counts["c0"] == counts["c1"] == 1
    assert counts["c4"] == 8
    assert {counts[f"c{k}"] for k in range(5, 10)} <= {8, 9}


def test_selection_is_the_same_everywhere_and_grows(skewed):
    shuffled = dict(sorted(skewed.items(), key=lambda item: hash((item[0], "x"))))
    chosen = select_images(skewed, 40)
    assert chosen == select_images(shuffled, 40)
    assert chosen != select_images(skewed, 40, seed=1)
    assert set(chosen) < set(select_images(skewed, 41))
    # A change of the rule must come with a new coco.VERSION.
    assert select_images({k: {"a"} for k in range(50)}, 5, seed=3) == [5, 13, 15, 22, 41]


def test_zero_and_too_many_take_all(skewed):
    assert select_images(skewed, 0) == select_images(skewed, 999) == sorted(skewed)


# ------------------------------------------------------------------------------- what is made


def test_all_images_and_their_annotations(server, root):
    paths = download(root)
    data = load(paths.train_json)
    # Of ten scenes three show nothing wanted, and one only a crowd.
    assert len(data["images"]) == 24
    assert {c["name"] for c in data["categories"]} == set(CLASSES)
    original = server.instances["train"]
    kept = {image["id"] for image in data["images"]}
    expected = [
        {k: v for k, v in a.items() if k != "segmentation"}
        for a in original["annotations"]
        if a["image_id"] in kept and a["category_id"] != 18
    ]
    assert data["annotations"] == expected
    for image in data["images"]:
        path = f"train2017/{Path(image['file_name']).name}"
        assert (paths.train_images / image["file_name"]).read_bytes() == server.files[path]
    assert len(list((root / "train2017").iterdir())) == 24
    assert set(server.requests.values()) == {1}
    assert not leftovers(root)
    assert not (root / ARCHIVE).exists()
    assert load(root / "annotations/instances_val2017.json") == server.instances["val"]


def test_crowd_regions_beside_boxes_stay(server, root):
    data = server.instances["train"]
    data["annotations"].append(data["annotations"][0] | {"id": 777, "iscrowd": 1})
    server.set_instances("train", data)
    assert 777 in {a["id"] for a in load(download(root).train_json)["annotations"]}


def test_the_subset_is_a_data_set(server, root, tmp_path, capsys):
    """It is read again without a server, also after the whole folder was moved."""
    paths = download(root, 10, 5, progress=True)
    subset = paths.train_images.parent
    assert f"train or evaluate with --data {subset}" in capsys.readouterr().err
    assert find_data(subset) == paths
    moved = root.rename(tmp_path / "moved")
    server.requests.clear()
    train, val = load_data(moved / subset.relative_to(root), CLASSES, 64)
    assert (len(train), len(val)) == (10, 5)
    assert not train.skipped
    assert train.report["background"] == 0
    assert train.report["per_class"]["cell phone"] >= 5
    assert not server.requests


@pytest.mark.parametrize("folder", ["train2017", "val2017"])
def test_empty_folders_that_a_copy_left_out(server, root, folder):
    paths = download(root, 10, 5)
    (paths.train_images.parent / folder).rmdir()
    assert download(root, 10, 5) == paths
    assert find_data(paths.train_images.parent) == paths


def test_subsets_of_one_folder_share_images(server, root):
    small = download(root, 10, 5)
    server.requests.clear()
    large = download(root, 12, 5)
    assert names(small.train_json) < names(large.train_json)
    assert len(server.requests) == 2  # the annotations and the others are there
    assert small.train_json.exists()
    assert download(root, 10, 5, classes=CLASSES[::-1]) == small
    assert len(server.requests) == 2


def test_connections_are_kept(server, root):
    download(root, connections=3)
    assert sum(server.requests.values()) == 37
    assert server.connections == 4  # one for the archive


# ----------------------------------------------------------------------- servers that misbehave

HTML = b"<html>Sorry</html>" * 20


def other_size():
    buffer = io.BytesIO()
    Image.new("RGB", (50, 50)).save(buffer, "JPEG")
    return buffer.getvalue()


MISDEEDS = {
    "500": Answer(status=500),
    "503": Answer(status=503, headers={"Retry-After": "0"}),
    "429": Answer(status=429, headers={"Retry-After": "Sat, 01 Jan 2000 00:00:00 GMT"}),
    "404 once": Answer(status=404),
    "cut": Answer(cut=300),
    "nothing": Answer(cut=0),
    "length too long": Answer(length=100_000),
    "length too short": Answer(length=500),
    "page": Answer(body=HTML),
    "empty": Answer(body=b""),
    "other size": Answer(body=other_size()),
    "reset": Answer(reset=True),
    "stall": Answer(stall=100),
    "no answer": Answer(delay=2),
    "drip": Answer(drip=0.1),
    "elsewhere": Answer(status=302, headers={"Location": "ftp://x/y.jpg"}),
    "bad port": Answer(status=302, headers={"Location": "http://x:y/"}),
    "without TLS": Answer(status=302, headers={"Location": "http://images.cocodataset.org/a.jpg"}),
    "loop": Answer(status=302, headers={"Location": "/train2017/nowhere.jpg"}),
}


@pytest.mark.parametrize("misdeed", MISDEEDS)
def test_one_misdeed_is_got_over(server, root, misdeed):
    server.set(PHONE_IMAGE, MISDEEDS[misdeed])
    start = time.monotonic()
    paths = download(root, 16, 2)
    assert time.monotonic() - start < 3
    assert server.requests[PHONE_IMAGE] == 2
    assert (root / PHONE_IMAGE).read_bytes() == server.files[PHONE_IMAGE]
    assert PHONE_IMAGE[10:] in names(paths.train_json)
    assert not leftovers(root)


def test_slow_servers_are_waited_for(server, root):
    server.set(PHONE_IMAGE, Answer(delay=0.3))
    download(root, 16, 2)
    assert server.requests[PHONE_IMAGE] == 1


def test_retry_after_is_honoured_up_to_a_limit(server, root, monkeypatch):
    monkeypatch.setattr(coco, "TIMING", replace(coco.TIMING, longest_retry_after=0.5))
    server.set(PHONE_IMAGE, Answer(status=503, headers={"Retry-After": "3600"}))
    start = time.monotonic()
    download(root, 16, 2)
    assert 0.5 <= time.monotonic() - start < 2


@pytest.mark.parametrize(("status", "requests"), [(404, 2), (403, 2), (500, 3), (429, 3)])
def test_attempts_end(server, root, status, requests):
    server.set(PHONE_IMAGE, Answer(status=status), always=True)
    with pytest.raises(DownloadError, match="too many images failed: 1 of 16 in train2017"):
        download(root, 16, 2)
    assert server.requests[PHONE_IMAGE] == requests
    assert f"{PHONE_IMAGE}\tHTTP status {status}" in (root / "failed_images.txt").read_text()


def test_delays_grow(monkeypatch):
    waited = []
    stop = SimpleNamespace(wait=waited.append, is_set=lambda: False)
    timing = Timing(attempts=7, first_delay=1, longest_delay=8)

    def attempt():
        raise FetchError("no")

    with pytest.raises(FetchError):
        Session(timing, stop).retry(attempt)
    for delay, longest in zip(waited, [1, 2, 4, 8, 8, 8], strict=True):
        assert longest / 2 <= delay <= longest
    assert len({delay / 2**k for k, delay in enumerate(waited)}) == 6  # jitter


def test_redirects_are_followed(server, root):
    moved = server.url + "/mirror/phone.jpg?x=1"
    server.files["mirror/phone.jpg?x=1"] = server.files[PHONE_IMAGE]
    server.set(PHONE_IMAGE, Answer(status=301, headers={"Location": moved}))
    download(root, 16, 2)
    assert server.requests["mirror/phone.jpg?x=1"] == server.requests[PHONE_IMAGE] == 1


@pytest.mark.parametrize(
    ("url", "location", "followed"),
    [
        ("https://a/b", "https://c/d", True),
        ("https://a/b", "http://a/b", False),
        ("https://a/b", "http://127.0.0.1/b", False),
        ("http://127.0.0.1/b", "http://localhost/c", True),
        ("http://127.0.0.1/b", "https://c/d", True),
        ("http://127.0.0.1/b", "http://c/d", False),
    ],
)
def test_where_redirects_may_lead(url, location, followed):
    if followed:
        assert fetching._redirected(url, location) == location
    else:
        with pytest.raises(FetchError, match="redirected to"):
            fetching._redirected(url, location)


def test_connections_that_the_server_closes_are_no_failures(server, root, monkeypatch):
    monkeypatch.setattr(coco, "TIMING", replace(coco.TIMING, attempts=1))
    for path in list(server.files):
        if path != ARCHIVE:
            server.set(path, Answer(cut=10**6), always=True)  # whole, but then it hangs up
    download(root)
    assert set(server.requests.values()) == {1}


def test_a_server_that_has_gone(server, root, monkeypatch):
    monkeypatch.setattr(coco, "MAX_FAILED_IN_ROW", 5)
    for path in server.files:
        if path.startswith("train2017"):
            server.set(path, Answer(reset=True), always=True)
    with pytest.raises(DownloadError, match="5 images in a row failed"):
        download(root)
    assert len((root / "failed_images.txt").read_text().splitlines()) == 5


def test_no_server(root, monkeypatch):
    with CocoServer(train=1, val=1) as server:
        url = server.url
    monkeypatch.setenv("COCO_BASE_URL", url)
    with pytest.raises(DownloadError, match=r"trainval2017\.zip: ConnectionRefusedError"):
        download(root)


# ------------------------------------------------------------------------------------ failures


@pytest.mark.parametrize(("count", "fails"), [(100, True), (101, False)])
def test_one_percent(monkeypatch, root, capsys, count, fails):
    with CocoServer(train=170, val=2) as server:
        monkeypatch.setenv("COCO_BASE_URL", server.url)
        server.set(PHONE_IMAGE, Answer(status=404), always=True)
        if fails:
            with pytest.raises(DownloadError, match="too many images failed: 1 of 100 in train"):
                download(root, count)
            assert not list(root.glob("subsets/*/*"))
            assert len(list((root / "train2017").iterdir())) == 99
            return
        kept = names(download(root, count).train_json)
        assert len(kept) == 100
        assert PHONE_IMAGE[10:] not in kept
        shown = capsys.readouterr().err
        assert f"  {PHONE_IMAGE}: HTTP status 404" in shown
        # Once the server has it, the next call completes the subset.
        server.set(PHONE_IMAGE)
        server.requests.clear()
        assert len(names(download(root, count).train_json)) == 101
        assert sum(server.requests.values()) == 1
        assert not (root / "failed_images.txt").exists()


def test_absent_images_do_not_mean_that_the_server_has_gone(server, root, monkeypatch):
    monkeypatch.setattr(coco, "MAX_FAILED_IN_ROW", 5)
    for path in server.files:
        if path.startswith("train2017"):
            server.set(path, Answer(status=404), always=True)
    with pytest.raises(DownloadError, match="24 of 24"):
        download(root)


def test_splits_are_judged_apart(server, root):
    server.set("val2017/000000001002.jpg", Answer(status=404), always=True)
    with pytest.raises(DownloadError, match=r"failed: 1 of 12 in val2017 \(allowed"):
        download(root)


def test_the_first_ten_failures_are_shown(server, root, capsys):
    for path in server.files:
        if path.startswith("train2017"):
            server.set(path, Answer(status=404), always=True)
    with pytest.raises(DownloadError, match="24 of 24"):
        download(root)
    assert capsys.readouterr().err.count(": HTTP status 404") == 10
    assert len((root / "failed_images.txt").read_text().splitlines()) == 24


def test_a_bug_is_not_swallowed(server, root, monkeypatch):
    def broken(*_):
        raise IndexError("bug")

    monkeypatch.setattr(coco, "image_problem", broken)
    with pytest.raises(IndexError, match="bug"):
        download(root)


# ------------------------------------------------------------------------ resuming, what is there


def digest(body):
    return hashlib.sha256(body).hexdigest()


def test_the_archive_must_be_the_one_that_is_known(server, root, monkeypatch):
    """Nothing of another one is unpacked, and COCO's own is what is wanted by default."""
    good = server.files[ARCHIVE]
    for wanted in (coco_archive.ARCHIVE_SHA256, digest(b"x")):
        monkeypatch.setenv("COCO_ANNOTATIONS_SHA256", wanted)
        message = f"the SHA-256 of the archive is {digest(good)}, not {wanted}"
        with pytest.raises(DownloadError, match=message):
            download(root)
        assert not list((root / "annotations").iterdir())
    monkeypatch.delenv("COCO_ANNOTATIONS_SHA256")
    with pytest.raises(DownloadError, match=f"not {coco_archive.ARCHIVE_SHA256}"):
        download(root)
    # One that was changed on the way is fetched again.
    monkeypatch.setenv("COCO_ANNOTATIONS_SHA256", digest(good).upper())
    other = make_archive(server.instances, [("annotations/more.json", "{}")])
    server.set(ARCHIVE, Answer(body=other))
    server.requests.clear()
    download(root, 16, 2)
    assert server.requests[ARCHIVE] == 2


def test_a_resumed_archive_is_checked_whole(server, root, monkeypatch):
    monkeypatch.setenv("COCO_ANNOTATIONS_SHA256", digest(server.files[ARCHIVE]))
    server.set(ARCHIVE, Answer(cut=1000))
    download(root, 16, 2)
    assert ranges_asked(server) == [None, "bytes=1000-"]


@pytest.mark.parametrize("wrong", ["none", "0" * 63, "g" * 64])
def test_wrong_sums(root, monkeypatch, wrong):
    monkeypatch.setenv("COCO_ANNOTATIONS_SHA256", wrong)
    with pytest.raises(DownloadError, match=r"COCO_ANNOTATIONS_SHA256 must be 64 hexadecimal"):
        download(root)


def test_what_was_downloaded_is_noted_and_checked(server, root):
    """Other bytes of the same length are noticed, though a picture may still be read of them."""
    paths = download(root, 16, 2)
    noted = [json.loads(line) for line in (root / INDEX).read_text().splitlines() if line]
    for entry in noted:
        body = (root / entry["file"]).read_bytes()
        assert (entry["size"], entry["sha256"]) == (len(body), digest(body))
    assert len(noted) == 18 + 2
    body = bytearray((root / PHONE_IMAGE).read_bytes())
    body[-40] ^= 1
    (root / PHONE_IMAGE).write_bytes(body)
    server.requests.clear()
    assert download(root, 16, 2) == paths
    assert server.requests == {PHONE_IMAGE: 1}
    assert (root / PHONE_IMAGE).read_bytes() == server.files[PHONE_IMAGE]


def test_another_picture_than_the_first_is_refused(server, root):
    download(root, 16, 2)
    body = bytearray(server.files[PHONE_IMAGE])
    body[-40] ^= 1
    server.files[PHONE_IMAGE] = bytes(body)
    (root / PHONE_IMAGE).unlink()
    with pytest.raises(DownloadError, match="too many images failed"):
        download(root, 16, 2)
    assert "is not the file that was downloaded first" in (root / "failed_images.txt").read_text()
    assert not (root / PHONE_IMAGE).exists()


def test_changed_annotations_are_refused(server, root):
    download(root, 16, 2)
    path = root / "annotations/instances_val2017.json"
    path.write_text(path.read_text() + " ")
    server.requests.clear()
    with pytest.raises(DownloadError, match=r"instances_val2017.json has changed since it was"):
        download(root, 16, 2)
    path.unlink()
    download(root, 16, 2)
    assert server.requests == {ARCHIVE: 1}


def test_nothing_is_fetched_or_decoded_twice(server, root, monkeypatch):
    paths = download(root)
    made = paths.train_json.stat().st_mtime_ns
    server.requests.clear()
    monkeypatch.setattr(coco, "image_problem", None)
    assert download(root) == paths  # the short way
    assert paths.train_json.stat().st_mtime_ns == made
    shutil.rmtree(root / "subsets")
    assert download(root) == paths
    assert not server.requests


def test_damage_is_repaired(server, root):
    paths = download(root)
    images = sorted((root / "train2017").iterdir())
    images[0].unlink()
    images[1].write_bytes(images[1].read_bytes()[:-200])
    paths.val_json.write_text("{")
    (root / "train2017/old.part").write_text("half")
    server.requests.clear()
    download(root)
    assert server.requests == {f"train2017/{images[k].name}": 1 for k in (0, 1)}
    assert len(names(paths.val_json)) == 12
    assert not leftovers(root)


def test_images_from_elsewhere_are_checked_once(server, root, monkeypatch):
    (root / "train2017").mkdir(parents=True)
    (root / PHONE_IMAGE).write_bytes(server.files[PHONE_IMAGE])
    bad = root / "train2017/000000000001.jpg"
    bad.write_bytes(HTML)
    checked = []
    check = coco.image_problem
    monkeypatch.setattr(
        coco, "image_problem", lambda body, image: checked.append(image) or check(body, image)
    )
    download(root)
    assert PHONE_IMAGE not in server.requests
    assert bad.read_bytes() == server.files["train2017/000000000001.jpg"]
    assert len(checked) == 37  # 36 and the bad one once more


def test_a_torn_index(server, root):
    download(root)
    index = root / INDEX
    lines = index.read_bytes().splitlines()
    index.write_bytes(b"\n".join(lines[:-1]) + b"\n" + lines[-1][:12])
    shutil.rmtree(root / "subsets")
    server.requests.clear()
    download(root)
    assert not server.requests
    assert len(Index(root).notes) == 38


def test_notes_without_a_sum(server, root):
    """As earlier versions wrote them: the files are looked at once more, and not fetched."""
    download(root)
    index = root / INDEX
    notes = [json.loads(line) for line in index.read_text().splitlines() if line]
    old = [{"file": note["file"], "size": note["size"]} for note in notes]
    index.write_text("\n".join(map(json.dumps, old)))
    server.requests.clear()
    download(root)
    assert not server.requests
    assert len(Index(root).notes) == 38


def test_interrupt_from_the_keyboard(server, root, monkeypatch, capsys):
    slow = sorted(p for p in server.files if p.startswith("val2017"))
    for path in slow:
        server.set(path, Answer(stall=50))
    monkeypatch.setattr(coco, "TIMING", replace(coco.TIMING, read=30))
    pressed = []

    def press():
        wait_for(lambda: sum(server.requests[path] for path in slow) == 4)
        pressed.append(time.monotonic())
        signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)

    finger = threading.Thread(target=press)
    finger.start()
    with pytest.raises(KeyboardInterrupt):
        download(root)
    assert time.monotonic() - pressed[0] < 1
    finger.join()
    assert "run again to go on" in capsys.readouterr().err
    assert not leftovers(root)
    there = {p for p in server.files if (root / p).exists()}
    assert len(there) == 24
    server.requests.clear()
    for path in slow:
        server.set(path)
    download(root)
    assert len(server.requests) == 12
    assert not there & set(server.requests)


# --------------------------------------------------------------------------------- the archive


def ranges_asked(server):
    return [h.get("Range") for p, _, h in server.log if p == ARCHIVE]


def test_the_archive_is_resumed(server, root):
    server.set(ARCHIVE, Answer(cut=1000), Answer(cut=500), Answer(reset=True))
    download(root, 16, 2)
    assert ranges_asked(server) == [None, "bytes=1000-", "bytes=1500-", "bytes=1500-"]
    assert server.log[1][2]["If-Range"] == '"one"'


def test_failures_before_progress_do_not_count(server, root):
    server.set(ARCHIVE, *[Answer(cut=100)] * 6)  # more than there are attempts
    download(root, 16, 2)
    assert server.requests[ARCHIVE] == 7


@pytest.mark.parametrize("ranges", [True, False])
def test_the_archive_is_resumed_by_the_next_call(server, root, ranges):
    server.set(ARCHIVE, Answer(cut=1000), *[Answer(reset=True)] * 2)
    with pytest.raises(DownloadError, match="what is there stays"):
        download(root, 16, 2)
    server.ranges = ranges
    server.log.clear()
    download(root, 16, 2)
    assert ranges_asked(server) == ["bytes=1000-"]
    assert load(root / "annotations/instances_val2017.json") == server.instances["val"]


def test_a_server_that_never_gets_further(server, root):
    server.ranges = False
    server.set(ARCHIVE, Answer(cut=1000), always=True)
    with pytest.raises(DownloadError, match="cut short: 1000 of"):
        download(root)
    assert server.requests[ARCHIVE] == 3


@pytest.mark.parametrize("etag", ['"one"', None])
def test_another_archive_is_begun_again(server, root, etag):
    """It is known by its ETag, or else by its length."""
    server.etag = etag
    server.set(ARCHIVE, Answer(cut=1000), *[Answer(reset=True)] * 2)
    with pytest.raises(DownloadError):
        download(root, 16, 2)
    server.etag = etag and '"two"'
    server.files[ARCHIVE] = make_archive(server.instances, [("annotations/more.json", "{}")])
    download(root, 16, 2)
    assert load(root / "annotations/instances_val2017.json") == server.instances["val"]


@pytest.mark.parametrize(
    "wrong",
    [{"Content-Range": "bytes 0-9/{}"}, {"Content-Range": "bytes 1000-1009/9"}],
)
def test_a_wrong_rest_of_the_archive_is_not_used(server, root, wrong):
    body = server.files[ARCHIVE]
    right = {"Content-Range": f"bytes 1000-{len(body) - 1}/{len(body)}"}
    headers = right | {name: text.format(len(body)) for name, text in wrong.items()}
    rest = Answer(status=206, body=body[1000:], headers=headers)
    server.set(ARCHIVE, Answer(cut=1000), rest)
    download(root, 16, 2)
    assert ranges_asked(server) == [None, "bytes=1000-", None]


def test_an_archive_that_shrank(server, root):
    """The server then refuses the range."""
    server.etag = None
    server.set(ARCHIVE, Answer(cut=3000))
    whole = server.files[ARCHIVE]
    assert len(whole) > 3500
    server.set(ARCHIVE, Answer(cut=3000), Answer(status=416))
    download(root, 16, 2)
    assert ranges_asked(server) == [None, "bytes=3000-", None]


def test_a_page_instead_of_the_archive(server, root):
    server.set(ARCHIVE, Answer(body=HTML))
    download(root, 16, 2)
    assert server.requests[ARCHIVE] == 2


def damaged_archive(server):
    body = bytearray(server.files[ARCHIVE])
    body[200:300] = bytes(100)
    return bytes(body)


def test_a_damaged_archive_is_fetched_again(server, root):
    server.set(ARCHIVE, Answer(body=damaged_archive(server)))
    download(root, 16, 2)
    assert server.requests[ARCHIVE] == 2


def test_an_archive_damaged_at_the_server(server, root):
    server.files[ARCHIVE] = damaged_archive(server)
    with pytest.raises(DownloadError, match="it is damaged"):
        download(root)
    assert not list((root / "annotations").iterdir())


def link(name):
    info = zipfile.ZipInfo(name)
    info.create_system, info.external_attr = 3, 0o120777 << 16
    return info


@pytest.mark.parametrize(
    ("member", "content"),
    [
        ("../outside.json", "x"),
        ("annotations/../../x", "x"),
        ("/outside.json", "x"),
        ("a\\..\\..\\x", "x"),
        ("C:/x", "x"),
        (link("annotations/link.json"), "/etc/passwd"),
        ("annotations/bomb.json", bytes(1 << 22)),
    ],
)
def test_only_the_instances_are_unpacked(server, root, member, content):
    server.files[ARCHIVE] = make_archive(server.instances, [(member, content)])
    download(root, 1, 1)
    assert [p.name for p in root.parent.iterdir()] == ["coco"]
    assert {p.name for p in root.iterdir()} == {
        LOCK, INDEX, "annotations", "subsets", "train2017", "val2017",
    }  # fmt: skip
    assert {p.name for p in (root / "annotations").iterdir()} == set(coco_archive.INSTANCES)


def test_instances_that_are_a_link(server, root):
    """They become a file with the link's target as text."""
    extra = [(link("annotations/instances_train2017.json"), "/etc/passwd")]
    server.files[ARCHIVE] = make_archive({"val": server.instances["val"]}, extra)
    with pytest.raises(DownloadError, match=r"instances_train2017.json is not a COCO instances"):
        download(root)
    assert not (root / "annotations/instances_train2017.json").is_symlink()


def test_archives_without_the_instances(server, root):
    server.files[ARCHIVE] = make_archive({"val": server.instances["val"]})
    with pytest.raises(DownloadError, match=r"it lacks annotations/instances_train2017.json"):
        download(root)
    assert not list((root / "annotations").iterdir())


def test_large_members_are_refused(server, root, monkeypatch):
    monkeypatch.setattr(coco_archive, "MAX_MEMBER_BYTES", 1000)
    with pytest.raises(DownloadError, match=r"annotations/instances_train2017.json would unpack"):
        download(root)


# ---------------------------------------------------------------------------- what users do wrong


def test_unknown_classes(server, root):
    with pytest.raises(DownloadError, match="no class 'phone'; near names: cell phone"):
        download(root, classes=["phone"])
    with pytest.raises(DownloadError, match="no class 'Persn'; near names: person"):
        download(root, classes=["person", "Persn"])
    with pytest.raises(DownloadError, match="'zzz'; it has person, dog, cell phone"):
        download(root, classes=["zzz"])
    assert not (root / "train2017").exists()


@pytest.mark.parametrize(
    "wrong",
    [
        {"classes": []},
        {"classes": ["person", "person"]},
        {"train": -1},
        {"val": -1},
        {"connections": 0},
        {"seed": -1},
    ],
)
def test_wrong_settings(root, wrong):
    with pytest.raises(DownloadError, match=r"must be|classes"):
        download(root, **wrong)
    assert not root.exists()


@pytest.mark.parametrize(
    "url",
    [
        "ftp://x/y",
        "file:///x",
        "nowhere",
        "http://",
        "http://x:99999",
        "http://x/?a=1",
        "http://ä/",
        "http://images.cocodataset.org",
        "http://127.0.0.1.example.org/",
        "http://10.0.0.1/coco",
    ],
)
def test_wrong_addresses(root, monkeypatch, url):
    monkeypatch.setenv("COCO_BASE_URL", url)
    with pytest.raises(DownloadError, match="COCO_BASE_URL must be https://host/path"):
        download(root)


def test_addresses(monkeypatch):
    monkeypatch.delenv("COCO_BASE_URL", raising=False)
    assert coco.base_url() == "https://s3.amazonaws.com/images.cocodataset.org"
    for url in ("https://mirror/coco", "http://localhost:80/coco", "http://[::1]:8000"):
        monkeypatch.setenv("COCO_BASE_URL", url + "//")
        assert coco.base_url() == url


def test_proxies(server, root, monkeypatch):
    monkeypatch.setenv("COCO_BASE_URL", "http://localhost:9/coco")
    monkeypatch.setenv("http_proxy", server.url.replace("//", "//me:pass%21@"))
    server.files |= {f"coco/{path}": body for path, body in server.files.items()}
    download(root, 16, 2)
    _, target, headers = server.log[0]
    assert target == f"http://localhost:9/coco/{ARCHIVE}"
    assert headers["Host"] == "localhost:9"
    assert headers["Proxy-Authorization"] == "Basic bWU6cGFzcyE="
    monkeypatch.setenv("http_proxy", "socks5://secret@x:1")
    with pytest.raises(DownloadError, match=r"http_proxy must be http://host:port$"):
        download(root)


def test_a_full_disk(server, root, monkeypatch):
    usage = SimpleNamespace(free=10**6)
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage)
    with pytest.raises(DownloadError, match=r"download needs 2,39\d.\d MB .* only 1.0 MB are free"):
        download(root, 12000, 2000)
    assert not leftovers(root) or server.requests == {ARCHIVE: 1}
    with pytest.raises(
        DownloadError, match=r"^fetching 36 images needs 6.2 MB in .* 1.0 MB are free"
    ):
        download(root)
    assert set(server.requests) == {ARCHIVE}
    usage.free = 10**7
    download(root)


def test_a_disk_that_fills_up(server, root, monkeypatch):
    write = Path.write_bytes

    def full(path, body):
        assert path.suffix == ".part"
        write(path, body[:100])
        raise OSError(28, "No space left on device", str(path))

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(DownloadError, match="No space left on device"):
        download(root)
    assert not list((root / "train2017").iterdir())


@pytest.mark.parametrize(
    "spoil",
    [
        lambda data: data.pop("categories"),
        lambda data: data["images"][0].update(file_name="../x.jpg"),
        lambda data: data["images"][0].update(file_name=".verified.jsonl"),
        lambda data: data["images"].append(data["images"][0]),
        lambda data: data["images"][3].pop("width"),
        lambda data: data["annotations"][0].update(bbox=[1, 2, 3]),
        lambda data: data["annotations"][0].update(bbox=None),
    ],
)
def test_spoilt_annotations(server, root, spoil):
    data = server.instances["train"]
    spoil(data)
    server.set_instances("train", data)
    with pytest.raises(DownloadError, match=r"instances_train2017.json is not a COCO instances"):
        download(root)


def test_boxes_without_area_do_not_count(server, root):
    data = server.instances["train"]
    for annotation in data["annotations"]:
        if annotation["category_id"] == PHONE:
            annotation["bbox"][2] = 0
    server.set_instances("train", data)
    with pytest.raises(DownloadError, match="has no image with cell phone"):
        download(root, classes=["cell phone"])


def test_long_names_of_subsets():
    many = [f"a rather long name {k}" for k in range(9)]
    assert coco.subset_name(CLASSES, 12, 0, 3) == "cell-phone+person_train12_valall_seed3"
    assert coco.subset_name(many, 1, 1, 0) == coco.subset_name(many[::-1], 1, 1, 0)
    assert len(coco.subset_name(many, 1, 1, 0)) < 80


# --------------------------------------------------------------------------------- processes


def start(root, server, *arguments):
    return subprocess.Popen(
        [sys.executable, "-m", "data.coco", str(root), "--connections", "2", *arguments],
        env=os.environ | server.environment | {"PYTHONPATH": str(DEMO)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_two_processes(server, root, capsys):
    """The second is told; a dead one's lock is free."""
    server.set(PHONE_IMAGE, Answer(stall=10))
    process = start(root, server)
    wait_for(lambda: server.requests[PHONE_IMAGE])
    assert main([str(root)]) == 1
    assert f"(process {process.pid} on " in capsys.readouterr().err
    process.kill()
    process.communicate()
    assert f"process {process.pid}" in (root / LOCK).read_text()
    download(root)
    assert (root / LOCK).read_text() == ""


def test_interrupted_process(server, root):
    server.set(PHONE_IMAGE, Answer(stall=10))
    process = start(root, server)
    wait_for(lambda: server.requests[PHONE_IMAGE])
    begin = time.monotonic()
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=10)
    assert time.monotonic() - begin < 2
    assert process.returncode == 130
    assert "run again to go on" in errors
    assert "Traceback" not in errors
    assert not leftovers(root)


def test_finished_data_need_no_lock(server, root):
    paths = download(root)
    with locked(root):
        assert download(root) == paths
        with pytest.raises(DownloadError, match="another process downloads into"):
            download(root, 16, 2)


def test_command_line(server, root, capsys):
    arguments = [str(root), "--train-images", "16", "--val-images", "5", "--seed", "2"]
    assert main(arguments) == 0
    out, err = capsys.readouterr()
    assert "train2017: 16 of 24 images chosen (" in err
    assert "8 with cell phone" in err
    assert len(names(find_data(out.strip()).train_json)) == 16
    assert main([*arguments, "--quiet"]) == 0
    assert capsys.readouterr() == (out, "")
    assert main([*arguments, "--classes", "cell phones"]) == 1
    assert (
        capsys.readouterr()
        .err.splitlines()[-1]
        .startswith(
            "error: instances_train2017.json has no class 'cell phones'; near names: cell phone"
        )
    )


def test_what_to_do_next(server, tmp_path, monkeypatch, capsys):
    """The command for the subset can be copied, and a wrong address is what is looked at."""
    root = tmp_path / "my coco"
    assert main([str(root), "--train-images", "4", "--val-images", "2"]) == 0
    out, err = capsys.readouterr()
    assert shlex.split(err.splitlines()[-1].partition("with ")[2]) == ["--data", out.strip()]
    monkeypatch.setenv("COCO_BASE_URL", server.url + "/elsewhere")
    assert main([str(tmp_path / "other")]) == 1
    found = capsys.readouterr().err.splitlines()[-1]
    assert "404" in found
    assert "check the network and COCO_BASE_URL" in found


def test_an_unwritable_place(tmp_path, capsys):
    (tmp_path / "file").write_text("")
    assert main([str(tmp_path / "file" / "coco")]) == 1
    assert capsys.readouterr().err.startswith("error: cannot use ")


def test_lines_of_progress(server, root, capsys):
    for path in list(server.files):
        server.set(path, Answer(delay=0.06))
    download(root, 10, 2, connections=1, progress=True)
    shown = capsys.readouterr().err
    assert "\r" not in shown
    lines = shown.splitlines()
    images = [line for line in lines if line.startswith("images: ")]
    assert 4 < len(images) < 16
    assert re.search(r" 12/12 \[00:00<00:00, .* images/s, 0\.0 MB, 0\.. MB/s\]", images[-1])
    assert any(line.startswith("annotations: 100%|") for line in lines)


def test_bar_on_a_terminal(server, root, monkeypatch):
    terminal = io.StringIO()
    terminal.isatty = lambda: True
    monkeypatch.setattr(sys, "stderr", terminal)
    download(root, 10, 2, progress=True)
    assert "\rimages: 100%|" in terminal.getvalue()
