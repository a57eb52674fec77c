"""Download the part of COCO 2017 that some classes need.

    python -m data.coco datasets/coco --classes person "cell phone" \\
        --train-images 12000 --val-images 2000

ROOT then holds::

    annotations/instances_{train,val}2017.json   COCO's own files, as they came
    train2017/, val2017/                         the chosen pictures
    subsets/NAME/                                a data set for --data: annotations of the wanted
                                                 classes, whose file names lead to the pictures

The same command goes on where an earlier one stopped. COCO_BASE_URL names another server with
COCO's layout (default https://s3.amazonaws.com/images.cocodataset.org; http is for a server on
this machine alone); proxies are taken from http_proxy, https_proxy and no_proxy.

The archive of annotations must have the SHA-256 that is known of COCO's;
COCO_ANNOTATIONS_SHA256 names that of another one, or says "unchecked". No sums are known of the
single pictures: it must be possible to decode each, and its size must be that of the annotations.

Pictures without a box of a wanted class are chosen for neither split, so the average precision
on the validation part is somewhat higher than one over all 5,000 of COCO.
"""

import argparse
import hashlib
import json
import os
import re
import shlex
import shutil
import sys
import threading
import zipfile
import zlib
from collections import Counter
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from urllib.parse import urlsplit

import pooch
import requests
from commandline import Parser, output_folder
from data.cache import check_space, part_of
from data.images import PictureError, decode, quiet
from data.listing import DataError, choose_classes
from evaluation.forms import COCO_CLASSES
from filelock import FileLock, Timeout
from tqdm import tqdm

# COCO's own server. Its name of images.cocodataset.org has no certificate, for it is a bucket of
# S3 with dots in its name.
BASE_URL = "https://s3.amazonaws.com/images.cocodataset.org"
ARCHIVE = "annotations_trainval2017.zip"
# COCO publishes no sums: this is the one that libraries of data sets state, which have downloaded
# it; see thoughts/shared/research/coco.md.
ARCHIVE_SHA256 = "113a836d90195ee1f884e704da6304dfaaecff1f023f49b6ca93c4aaae470268"
ANNOTATION_BYTES = 760_000_000  # of the archive and the two files that are unpacked
MEAN_IMAGE_BYTES = 163_000
MAX_FAILED_SHARE = 0.01  # of a split's pictures: from here on it is an error
SPLITS = ("train", "val")
VERSION = 1  # of the selection rule; to be raised whenever it chooses otherwise
ATTEMPTS = 5  # for each picture
DELAY = 0.5  # seconds before the second attempt, doubled with each
TIMEOUT = (10, 30)  # seconds: to connect, and without any byte


def base_url():
    """Return the address that COCO's files are fetched from, without a trailing slash."""
    url = os.environ.get("COCO_BASE_URL", "").strip() or BASE_URL
    parts = urlsplit(url)
    here = parts.scheme == "http" and parts.hostname in ("localhost", "127.0.0.1", "::1")
    if not parts.hostname or not (parts.scheme == "https" or here):
        raise DataError(
            "COCO_BASE_URL must be https://host/path, or http://localhost/path for a server on "
            f"this machine; COCO's own is {BASE_URL}"
        )
    return url.rstrip("/")


# ------------------------------------------------------------------------------ annotations


def fetch_annotations(folder, base, progress):
    """Fetch COCO's two instances files unless they are in the folder; return their paths."""
    paths = [folder / f"instances_{split}2017.json" for split in SPLITS]
    if all(path.exists() for path in paths):
        return paths
    check_space(folder, ANNOTATION_BYTES, "the annotations")
    known = os.environ.get("COCO_ANNOTATIONS_SHA256", "").strip() or ARCHIVE_SHA256
    registry = {ARCHIVE: None if known == "unchecked" else known}
    archive = folder / ARCHIVE
    pooch.get_logger().setLevel("WARNING")  # no line for each attempt
    if progress:
        print(f"downloading {base}/annotations/{ARCHIVE}", file=sys.stderr)
    source = pooch.create(
        folder, f"{base}/annotations/", registry=registry, retry_if_failed=ATTEMPTS - 1
    )
    download = pooch.HTTPDownloader(progressbar=progress, timeout=TIMEOUT)
    try:
        source.fetch(ARCHIVE, downloader=download)
        with zipfile.ZipFile(archive) as opened:
            for path in paths:
                content = opened.open(f"annotations/{path.name}")
                with content, part_of(path) as part, part.open("wb") as file:
                    shutil.copyfileobj(content, file, 1 << 20)
    except requests.RequestException as error:
        offline = isinstance(error, requests.ConnectionError)
        why = f"no connection to {urlsplit(base).netloc}" if offline else error
        raise DataError(
            f"{base}/annotations/{ARCHIVE}: {why}; check the network and COCO_BASE_URL, then "
            "run again to go on"
        ) from None
    except ValueError as error:  # of pooch
        raise DataError(f"{error} (COCO_ANNOTATIONS_SHA256 names another)") from None
    except (zipfile.BadZipFile, zlib.error, EOFError, KeyError) as error:
        archive.unlink()
        raise DataError(f"{ARCHIVE} is damaged and was deleted: {error}") from None
    archive.unlink()
    return paths


# ------------------------------------------------------------------------------ pictures


def fetch_image(session, url, path, size, stop):
    """Fetch a picture of a known size; return what went wrong, or None.

    It gives up where `stop`, an event, is set.
    """
    problem = "stopped"
    for attempt in range(ATTEMPTS):
        if stop.wait(DELAY * 2 ** (attempt - 1) if attempt else 0):
            break
        try:
            answer = session.get(url, timeout=TIMEOUT)
            answer.raise_for_status()
            with part_of(path) as part:
                part.write_bytes(answer.content)
                decode(part, size)
            return None
        except (requests.RequestException, PictureError) as error:
            problem = str(error)
    return problem


def fetch_images(root, base, split, images, connections, progress):
    """Fetch the pictures of a split that aren't there; return the failures, name to reason."""
    folder = root / f"{split}2017"
    folder.mkdir(exist_ok=True)
    missing = [image for image in images if not (folder / image["file_name"]).exists()]
    check_space(root, len(missing) * MEAN_IMAGE_BYTES, f"{len(missing)} images")
    failed, stop = {}, threading.Event()
    with quiet(), requests.Session() as session, ThreadPoolExecutor(connections) as pool:
        session.mount(base, requests.adapters.HTTPAdapter(pool_maxsize=connections))
        jobs = {}
        for image in missing:
            name, size = image["file_name"], (image["width"], image["height"])
            url = f"{base}/{split}2017/{name}"
            jobs[pool.submit(fetch_image, session, url, folder / name, size, stop)] = name
        often = 0.5 if sys.stderr.isatty() else 10.0  # seconds; a log gets few lines
        show = {"total": len(jobs), "mininterval": often, "disable": not progress}
        try:
            for job in tqdm(as_completed(jobs), f"{split} images", **show):
                if problem := job.result():
                    failed[jobs[job]] = problem
                if failed and len(failed) >= MAX_FAILED_SHARE * len(images):
                    name, why = next(iter(failed.items()))
                    raise DataError(
                        f"too many images failed: {len(failed)} of {len(images)} in {split}2017 "
                        f"(allowed is less than {MAX_FAILED_SHARE:.0%}), first {name}: {why}; what "
                        "was downloaded stays, run again to go on"
                    )
        except BaseException:
            stop.set()
            pool.shutdown(cancel_futures=True)
            raise
    if failed:
        print(f"warning: {len(failed)} images of {split}2017 failed:", file=sys.stderr)
        for name, why in list(failed.items())[:10]:
            print(f"  {name}: {why}", file=sys.stderr)
    return failed


# ------------------------------------------------------------------------------ the subset


def _without_polygons(entry):
    # Called for each JSON object as it is read: the outlines are nine tenths of the file, and
    # all of them at once would take gigabytes of memory.
    entry.pop("segmentation", None)
    return entry


def select_images(holds, count, seed=0):
    """Choose images so that every class gets its share.

    One image after the other is taken for the class that the fewest chosen images hold, as long
    as it has images left. So by default every image with a cell phone is chosen, and images with
    persons fill up the number. Within a class the order comes from a hash of seed and id; it is the
    same on all machines, and a larger `count` only adds images.

    `holds` gives the names of the wanted classes, at least one, by image id. Returns `count` ids
    in ascending order, all of them where there are fewer or `count` is 0.
    """
    if count == 0 or count >= len(holds):
        return sorted(holds)

    def rank(image):
        return hashlib.sha256(f"{seed}:{image}".encode()).digest()

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


def select(path, classes, count, seed):
    """Choose images of an instances file; return its content for them, and a summary as text.

    All annotations of the wanted classes stay, crowd regions too, but without their outlines, which
    boxes don't need.
    """
    data = json.loads(path.read_text(encoding="utf-8"), object_hook=_without_polygons)
    ids = {category["name"]: category["id"] for category in data["categories"]}
    try:
        names = {ids[name]: name for name in choose_classes(path.name, list(ids), classes)}
    except ValueError as error:
        raise DataError(str(error)) from None
    annotations = [a for a in data["annotations"] if a["category_id"] in names]
    holds = {}
    for annotation in annotations:
        if not annotation.get("iscrowd", 0) and min(annotation["bbox"][2:]) > 0:
            name = names[annotation["category_id"]]
            holds.setdefault(annotation["image_id"], set()).add(name)
    chosen = set(select_images(holds, count, seed))
    counts = Counter(name for image in chosen for name in holds[image])
    held = ", ".join(f"{counts[name]} with {name}" for name in names.values())
    return data | {
        "images": [image for image in data["images"] if image["id"] in chosen],
        "annotations": [a for a in annotations if a["image_id"] in chosen],
        "categories": [c for c in data["categories"] if c["id"] in names],
    }, f"{len(chosen)} of {len(holds)} images chosen ({held})"


def subset_name(classes, train_images, val_images, seed):
    """Return the name of a subset's folder."""
    names = "+".join(re.sub(r"[^a-z0-9]+", "-", name.lower()) for name in sorted(classes))
    if len(names) > 60:
        digest = hashlib.sha256("\n".join(sorted(classes)).encode()).hexdigest()[:12]
        names = f"{len(classes)}-classes-{digest}"
    return f"{names}_train{train_images or 'all'}_val{val_images or 'all'}_seed{seed}"


def parts(subset, split):
    """Return (annotation file, image folder) of a split of a subset."""
    return subset / f"annotations/instances_{split}2017.json", subset / f"{split}2017"


def finished(subset, record):
    """Return whether an earlier run has left a subset with all its pictures; needs no lock."""
    try:
        if json.loads((subset / "subset.json").read_text(encoding="utf-8")) != record:
            return False
        for split in SPLITS:
            annotations, folder = parts(subset, split)
            images = json.loads(annotations.read_text(encoding="utf-8"))["images"]
            # A copy that left out the image folder, which is empty, isn't complete either.
            if not all((folder / image["file_name"]).exists() for image in images):
                return False
    except FileNotFoundError:
        return False
    return True


def write_subset(subset, split, data, failed):
    """Write a split of a subset, which is laid out as COCO except for its file names.

    The names lead from its image folder, which stays empty, to the pictures that all subsets share:
    not every disk has links.
    """
    annotations, folder = parts(subset, split)
    folder.mkdir(parents=True, exist_ok=True)
    annotations.parent.mkdir(exist_ok=True)
    images = [
        image | {"file_name": f"../../../{folder.name}/{image['file_name']}"}
        for image in data["images"]
        if image["file_name"] not in failed
    ]
    kept = {image["id"] for image in images}
    boxes = [a for a in data["annotations"] if a["image_id"] in kept]
    with part_of(annotations) as part:
        part.write_text(json.dumps(data | {"images": images, "annotations": boxes}))


# ------------------------------------------------------------------------------ the whole


def download_coco(
    root, classes, train_images=12000, val_images=2000, connections=32, seed=0, progress=True
):
    """Download what some classes need of COCO 2017, and write a data set of it.

    A call that was interrupted goes on where it stopped, and one whose data are complete
    returns at once. Fewer than 1 % of a split's images may fail; they are left out with a warning.

    `classes` are COCO's names; of train2017 and val2017 as many images as the numbers say are
    chosen, see `select_images`. DataError: an unknown class, no room on the disk, a server that
    doesn't deliver, too many failed images, or another process in the same folder.

    Returns
    -------
    Path
        The subset's folder. File names in its annotations lead to the pictures in
        ``root/train2017`` and ``root/val2017``: the subset is moved together with `root`.
    """
    if connections < 1 or min(train_images, val_images, seed) < 0:
        raise DataError(
            f"train_images={train_images}, val_images={val_images}, connections={connections}, "
            f"seed={seed}: connections must be positive, the others not negative"
        )
    try:
        choose_classes("COCO", COCO_CLASSES, classes)
    except ValueError as error:
        raise DataError(str(error)) from None
    base, root, counts = base_url(), Path(root), {"train": train_images, "val": val_images}
    subset = root / "subsets" / subset_name(classes, train_images, val_images, seed)
    record = {
        "version": VERSION, "classes": sorted(classes), "images": counts, "seed": seed, "failed": []
    }  # fmt: skip
    try:
        if not finished(subset, record):
            (root / "annotations").mkdir(parents=True, exist_ok=True)
            with FileLock(root / ".download.lock", timeout=0):
                files = fetch_annotations(root / "annotations", base, progress)
                for split, file in zip(SPLITS, files, strict=True):
                    data, summary = select(file, classes, counts[split], seed)
                    if progress:
                        print(f"{split}2017: {summary}", file=sys.stderr)
                    failed = fetch_images(root, base, split, data["images"], connections, progress)
                    write_subset(subset, split, data, failed)
                    record["failed"] += failed
                with part_of(subset / "subset.json") as part:  # it vouches for the others
                    part.write_text(json.dumps(record, indent=1))
    except Timeout:
        raise DataError(f"another process downloads into {root}; wait for it") from None
    except OSError as error:
        raise DataError(f"cannot use {root}: {error}") from None
    if progress:
        print(
            f"the subset is complete; train or evaluate with --data {shlex.quote(str(subset))}",
            file=sys.stderr,
        )
    return subset


def main(arguments=None):
    """Download as the command line says, print the subset's folder, and return the exit code."""
    parser = Parser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("root", type=output_folder, metavar="ROOT", help="folder for the data")
    add("--classes", nargs="+", default=["person", "cell phone"], metavar="NAME",
        help='default: person "cell phone"')  # fmt: skip
    for split, count in (("train", 12000), ("val", 2000)):
        add(f"--{split}-images", type=int, default=count, metavar="N",
            help=f"default: {count}; 0: all that hold a wanted class")  # fmt: skip
    add("--connections", type=int, default=32, metavar="N", help="downloads at a time; default: 32")
    add("--seed", type=int, default=0, help="of the selection; default: 0")
    add("--quiet", action="store_true", help="no progress")
    options = vars(parser.parse_args(arguments))
    try:
        subset = download_coco(progress=not options.pop("quiet"), **options)
    except DataError as error:
        print(f"error: {' '.join(str(error).split())}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("download interrupted; run again to go on where it stopped", file=sys.stderr)
        return 130
    print(subset)
    return 0


if __name__ == "__main__":
    sys.exit(main())
