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
single pictures: each must be decoded, and have the size that the annotations say.

Pictures without a box of a wanted class are chosen for neither split. The average precision
that is measured on the validation part therefore says nothing of false detections in
pictures without any object; it is somewhat higher than one over all 5,000 of COCO.
"""

import argparse
import json
import os
import shlex
import shutil
import sys
import threading
import zipfile
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from urllib.parse import urlsplit

import pooch
import requests
from data.coco_selection import (
    DownloadError,
    finished,
    part_of,
    select,
    subset_name,
    write_subset,
)
from data.images import PictureError, decode, quiet
from data.listing import DataPaths
from filelock import FileLock, Timeout
from tqdm import tqdm

# COCO's own server. Its name of images.cocodataset.org has no certificate, for it is a bucket of
# S3 with dots in its name.
BASE_URL = "https://s3.amazonaws.com/images.cocodataset.org"
ARCHIVE = "annotations_trainval2017.zip"
# COCO publishes no sums: this is the one that data set libraries state who have downloaded it,
# see thoughts/shared/research/coco.md.
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
    """Address that COCO's files are fetched from, without a trailing slash."""
    url = os.environ.get("COCO_BASE_URL", "").strip() or BASE_URL
    parts = urlsplit(url)
    here = parts.scheme == "http" and parts.hostname in ("localhost", "127.0.0.1", "::1")
    if not parts.hostname or not (parts.scheme == "https" or here):
        raise DownloadError(
            "COCO_BASE_URL must be https://host/path, or http://localhost/path for a server on "
            f"this machine; COCO's own is {BASE_URL}"
        )
    return url.rstrip("/")


def check_space(folder, needed, what):
    """Raise DownloadError if the disk has no room for `needed` bytes."""
    free = shutil.disk_usage(folder).free
    if free < needed:
        raise DownloadError(
            f"{what} needs {needed / 1e6:,.0f} MB in {folder}, but only {free / 1e6:,.0f} MB are "
            "free; make room, choose fewer images or another folder"
        )


# ------------------------------------------------------------------------------ annotations


def fetch_annotations(folder, base, progress):
    """Have COCO's two instances files in a folder; their paths."""
    paths = [folder / f"instances_{split}2017.json" for split in SPLITS]
    if all(path.exists() for path in paths):
        return paths
    check_space(folder, ANNOTATION_BYTES, "the annotations")
    known = os.environ.get("COCO_ANNOTATIONS_SHA256", "").strip() or ARCHIVE_SHA256
    registry = {ARCHIVE: None if known == "unchecked" else known}
    archive = folder / ARCHIVE
    pooch.get_logger().setLevel("INFO" if progress else "WARNING")
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
        raise DownloadError(
            f"{base}/annotations/{ARCHIVE}: {error}; check the network and COCO_BASE_URL, then "
            "run again to go on"
        ) from None
    except ValueError as error:  # of pooch
        raise DownloadError(f"{error} (COCO_ANNOTATIONS_SHA256 names another)") from None
    except (zipfile.BadZipFile, KeyError) as error:
        archive.unlink()
        raise DownloadError(f"{ARCHIVE} is damaged and was deleted: {error}") from None
    archive.unlink()
    return paths


# ------------------------------------------------------------------------------ pictures


def fetch_image(session, url, path, size, stop):
    """Fetch a picture that must have some size; what is wrong if it could not be had, or None."""
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
    """Have the pictures of a split; those that could not be fetched, with the reasons."""
    folder = root / f"{split}2017"
    folder.mkdir(exist_ok=True)
    missing = [image for image in images if not (folder / image["file_name"]).exists()]
    check_space(root, len(missing) * MEAN_IMAGE_BYTES, f"fetching {len(missing)} images")
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
                    raise DownloadError(
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


# ------------------------------------------------------------------------------ the whole


def download_coco(
    root, classes, train_images=12000, val_images=2000, connections=32, seed=0, progress=True
):
    """Download what some classes need of COCO 2017, and write a data set of it.

    A call that was interrupted goes on where it stopped, and one whose data are complete
    returns at once. Fewer than 1 % of a split's images may fail; they are left out with a warning.

    Parameters
    ----------
    root : path-like
        Folder for the data; made if need be.
    classes : sequence of str
        COCO's names of the wanted categories.
    train_images, val_images : int
        Images to choose of train2017 and val2017, see `select_images`; 0 takes all that hold a
        box of a wanted class.
    connections : int
        Kept-alive connections that fetch at once.
    seed : int
        Of the selection.
    progress : bool
        Report on standard error.

    Returns
    -------
    DataPaths
        The subset's annotation files and image folders. File names in the former lead from the
        latter to the pictures in ``root/train2017`` and ``root/val2017``: the subset is moved
        together with `root`.

    Raises
    ------
    DownloadError
        An unknown class, no room on the disk, a server that doesn't deliver, too many failed
        images, another process in the same folder, or wrong settings.
    """
    if connections < 1 or min(train_images, val_images, seed) < 0:
        raise DownloadError(
            f"train_images={train_images}, val_images={val_images}, connections={connections}, "
            f"seed={seed}: connections must be positive, the others not negative"
        )
    base, root, counts = base_url(), Path(root), {"train": train_images, "val": val_images}
    subset = root / "subsets" / subset_name(classes, train_images, val_images, seed)
    paths = DataPaths(
        subset / "annotations/instances_train2017.json", subset / "train2017",
        subset / "annotations/instances_val2017.json", subset / "val2017",
    )  # fmt: skip
    record = {
        "version": VERSION, "classes": sorted(classes), "images": counts, "seed": seed, "failed": []
    }  # fmt: skip
    try:
        if not finished(subset, record, paths):
            (root / "annotations").mkdir(parents=True, exist_ok=True)
            with FileLock(root / ".download.lock", timeout=0):
                files = fetch_annotations(root / "annotations", base, progress)
                for split, file in zip(SPLITS, files, strict=True):
                    data, summary = select(file, classes, counts[split], seed)
                    if progress:
                        print(f"{split}2017: {summary}", file=sys.stderr)
                    failed = fetch_images(root, base, split, data["images"], connections, progress)
                    write_subset(paths, split, data, failed)
                    record["failed"] += failed
                with part_of(subset / "subset.json") as part:  # it vouches for the others
                    part.write_text(json.dumps(record, indent=1))
    except Timeout:
        raise DownloadError(f"another process downloads into {root}; wait for it") from None
    except OSError as error:
        raise DownloadError(f"cannot use {root}: {error}") from None
    if progress:
        print(
            f"the subset is complete; train or evaluate with --data {shlex.quote(str(subset))}",
            file=sys.stderr,
        )
    return paths


def main(arguments=None):
    """Download as the command line says, and print the subset's folder.

    Returns
    -------
    int
        The exit code: 0, 1 after an error, 130 after an interruption.
    """
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("root", metavar="ROOT", help="folder for the data")
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
        paths = download_coco(progress=not options.pop("quiet"), **options)
    except DownloadError as error:
        print(f"error: {' '.join(str(error).split())}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("download interrupted; run again to go on where it stopped", file=sys.stderr)
        return 130
    print(paths.train_images.parent)
    return 0


if __name__ == "__main__":
    sys.exit(main())
