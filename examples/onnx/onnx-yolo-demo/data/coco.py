"""Download the part of COCO 2017 that some classes need.

    python -m data.coco datasets/coco --classes person "cell phone" \\
        --train-images 12000 --val-images 2000

ROOT then holds::

    annotations/instances_{train,val}2017.json   COCO's own files, as they came
    train2017/, val2017/                         the chosen pictures
    subsets/NAME/                                a data set for --data: annotations of the wanted
                                                 classes, whose file names lead to the pictures
    failed_images.txt                            what could not be fetched, if anything
    .verified.jsonl                              size and SHA-256 of every file above

Everything that is there and good is kept: the same command goes on where an earlier one
stopped. COCO_BASE_URL names another server with COCO's layout (default
https://s3.amazonaws.com/images.cocodataset.org; http is for a server on this machine alone);
proxies are taken from http_proxy, https_proxy and no_proxy.

The archive of annotations must have the SHA-256 that is known of COCO's;
COCO_ANNOTATIONS_SHA256 names that of another one, or says "unchecked". No sums are known of the
single pictures: each must be decoded, and have the size that the annotations say. What was
fetched first is noted in .verified.jsonl, and every later call compares the files with it: it
refuses annotations that have changed, and fetches pictures again, which must be the same then.

Pictures without a box of a wanted class are chosen for neither split. The average precision
that is measured on the validation part therefore says nothing of false detections in
pictures without any object; it is somewhat higher than one over all 5,000 of COCO.
"""

import argparse
import hashlib
import json
import os
import re
import shlex
import sys
import time
from contextlib import closing, contextmanager
from pathlib import Path
from urllib.parse import quote

from data.coco_archive import ARCHIVE, INSTANCES, Archive
from data.coco_files import (
    INDEX,
    Index,
    Note,
    check_space,
    image_problem,
    locked,
    part_of,
    write_whole,
)
from data.coco_selection import CocoImage, Selection
from data.fetching import (
    DownloadError,
    FetchError,
    Session,
    Stopped,
    Timing,
    Workers,
    is_safe,
    megabytes,
    progress_bar,
)
from data.listing import DataPaths

# COCO's own server. Its name of images.cocodataset.org has no certificate, for it is a bucket of
# S3 with dots in its name.
BASE_URL = "https://s3.amazonaws.com/images.cocodataset.org"
SPLITS = ("train", "val")
ORIGINALS = [f"annotations/{name}" for name in INSTANCES]
MEAN_IMAGE_BYTES = 163_000
MAX_IMAGE_BYTES = 16 << 20
MAX_FAILED_SHARE = 0.01  # of a split's pictures: from here on it is an error
MAX_FAILED_IN_ROW = 50  # then the server is taken to be gone
FAILED = "failed_images.txt"
VERSION = 1  # of the selection rule; to be raised whenever it chooses otherwise
TIMING = Timing()


def base_url():
    """Address that COCO's files are fetched from, without a trailing slash."""
    url = os.environ.get("COCO_BASE_URL", "").strip() or BASE_URL
    if not is_safe(url) or not re.fullmatch(r"[!-~]+", url) or re.search(r"[?#@]", url):
        raise DownloadError(  # without the address, which may hold a password
            "COCO_BASE_URL must be https://host/path, or http://localhost/path for a server on "
            f"this machine: ASCII without user, spaces, ? and #; COCO's own is {BASE_URL}"
        )
    return url.rstrip("/")


# ------------------------------------------------------------------------------ the whole


def subset_name(classes, train_images, val_images, seed):
    """Name of a subset's folder."""
    names = "+".join(re.sub(r"[^a-z0-9]+", "-", name.lower()) for name in sorted(classes))
    if len(names) > 60:
        digest = hashlib.sha256("\n".join(sorted(classes)).encode()).hexdigest()[:12]
        names = f"{len(classes)}-classes-{digest}"
    return f"{names}_train{train_images or 'all'}_val{val_images or 'all'}_seed{seed}"


class _Download:
    """One call of `download_coco`."""

    def __init__(self, root, classes, counts, connections, seed, progress):
        if not classes or len(set(classes)) != len(classes):
            raise DownloadError(f"classes must be distinct names, at least one; got {classes}")
        limits = [("connections", connections, 1), ("seed", seed, 0)]
        limits += [(f"{split}_images", count, 0) for split, count in counts.items()]
        for what, value, least in limits:
            if value < least:
                raise DownloadError(f"{what} is {value}; it must be at least {least}")
        self.root, self.classes, self.counts = Path(root), classes, counts
        self.connections, self.seed, self.progress = connections, seed, progress
        self.base, self.timing = base_url(), TIMING
        self.annotations = self.root / "annotations"
        self.subset = self.root / "subsets" / subset_name(classes, *counts.values(), seed)
        train, val = (self.subset / "annotations" / name for name in INSTANCES)
        self.paths = DataPaths(train, self.subset / "train2017", val, self.subset / "val2017")

    def run(self):
        """Have the subset; its DataPaths."""
        if not self.finished():
            with self.opened():
                with Index(self.root) as self.index:
                    self.fetch_annotations()
                    selections = [
                        Selection.make(path, split, self.classes, self.counts[split], self.seed)
                        for split, path in zip(SPLITS, self.originals(), strict=True)
                    ]
                    for selection in selections:
                        self.say(selection.summary())
                    failed = self.fetch_images([i for s in selections for i in s.images()])
                self.judge(selections, failed)
                self.write_subset(selections, failed)
        subset = shlex.quote(str(self.subset))
        self.say(f"the subset is complete; train or evaluate with --data {subset}")
        return self.paths

    def say(self, text):
        """Tell it the user, if they want to know."""
        if self.progress:
            print(text, file=sys.stderr, flush=True)

    def bar(self, label, total, **options):
        """A progress bar, or a silent one."""
        return progress_bar(label, total, self.progress, self.timing.report, **options)

    def originals(self):
        """COCO's own instances files."""
        return [self.root / path for path in ORIGINALS]

    def record(self, index):
        """What a finished subset was made from."""
        return {
            "version": VERSION,
            "classes": sorted(self.classes),
            "images": self.counts,
            "seed": self.seed,
            "annotations": [index.notes[path].sha256 for path in ORIGINALS],
            "failed": [],
        }

    def finished(self):
        """Whether an earlier run has left everything complete.

        It reads the files, decodes none, and needs no lock: any number of processes may ask.
        """
        try:
            index = Index(self.root)
            record = json.loads((self.subset / "subset.json").read_text(encoding="utf-8"))
            if record != self.record(index) or not all(path.exists() for path in self.paths):
                return False
            files = list(ORIGINALS)
            for split, path in zip(SPLITS, self.paths[::2], strict=True):
                images = json.loads(path.read_text(encoding="utf-8"))["images"]
                names = [image["file_name"].rpartition("/")[2] for image in images]
                files += [CocoImage(split, name, 0, 0).path for name in names]
            return not index.damaged(files)
        except (OSError, ValueError, KeyError, TypeError):
            return False  # not made, or damaged: the subset is made again

    @contextmanager
    def opened(self):
        """Own the folder; errors of the disk and interruptions get their words."""
        try:
            self.root.mkdir(parents=True, exist_ok=True)
            with locked(self.root):
                yield
        except OSError as error:
            what = f"{error.filename}: {error.strerror}" if error.filename else error
            raise DownloadError(f"cannot use {self.root}: {what}") from None
        except KeyboardInterrupt:
            print("download interrupted; run again to go on where it stopped", file=sys.stderr)
            raise

    def fetch_annotations(self):
        """Have COCO's two instances files, as they were when they were noted."""
        self.annotations.mkdir(parents=True, exist_ok=True)
        if not all(path.exists() for path in self.originals()):
            self.fetch_archive()
        elif changed := [p for p in self.index.damaged(ORIGINALS) if p in self.index.notes]:
            raise DownloadError(
                f"{self.root / changed[0]} has changed since it was downloaded: its SHA-256 is not "
                f"that in {INDEX}; delete it to have it fetched again"
            )
        for path in ORIGINALS:
            if path not in self.index.notes:
                self.index.add(path, Note.of((self.root / path).read_bytes()))

    def fetch_archive(self):
        """Fetch the instances files."""
        there = sum(note.size for note in self.index.notes.values())
        image_bytes = max(sum(self.counts.values()) * MEAN_IMAGE_BYTES - there, 0)
        url = f"{self.base}/annotations/{ARCHIVE}"
        with (
            self.bar("annotations", 0, unit="B", unit_scale=True) as bar,
            closing(Session(self.timing)) as session,
        ):
            Archive(url, self.annotations, image_bytes, bar).fetch(session)
        for path in ORIGINALS:
            self.index.notes.pop(path, None)

    def fetch_images(self, images):
        """Have all images; those that could not be fetched, with the reasons."""
        for split in SPLITS:
            folder = self.root / f"{split}2017"
            folder.mkdir(exist_ok=True)
            for part in folder.glob("*.part"):  # of a process that was killed
                part.unlink()
        damaged = set(self.index.damaged(image.path for image in images))
        missing = [image for image in images if image.path in damaged]
        check_space(self.root, len(missing) * MEAN_IMAGE_BYTES, f"fetching {len(missing)} images")
        failed = {}
        try:
            if missing:
                self.fetch_missing(missing, failed)
        finally:
            self.list_failed(failed)
        return failed

    def fetch_missing(self, missing, failed):
        """Fetch images; `failed` gets what could not be fetched."""
        in_row = fetched = 0
        begin = time.monotonic()
        with (
            self.bar("images", len(missing), unit=" images") as bar,
            Workers(self.connections, missing, self.fetch_image, self.timing) as workers,
        ):
            for image, result in workers.results():
                if not isinstance(result, FetchError):
                    in_row = 0
                    self.index.add(image.path, result[0])
                    fetched += result[1]
                    rate = megabytes(fetched / max(time.monotonic() - begin, 1e-9))
                    bar.set_postfix_str(f"{megabytes(fetched)}, {rate}/s", refresh=False)
                    bar.update()
                    continue
                bar.update()
                failed[image] = str(result)
                in_row += not result.permanent  # a 404 comes from a server that is there
                if in_row >= MAX_FAILED_IN_ROW:
                    raise DownloadError(
                        f"{in_row} images in a row failed (last: {image.path}: {result}), the "
                        "server seems to be gone; what was downloaded stays, run again to go on"
                    )

    def fetch_image(self, session, image):
        """(Note, bytes fetched) of a picture that is there and good afterwards."""
        path, note = self.root / image.path, self.index.notes.get(image.path)
        if path.exists():
            body = path.read_bytes()
            if note is None and image_problem(body, image) is None:
                return Note.of(body), 0
            path.unlink()

        def attempt():
            body = session.read(f"{self.base}/{quote(image.path)}", MAX_IMAGE_BYTES)
            problem = image_problem(body, image)
            if problem is None and note not in (None, Note.of(body)):
                problem = f"is not the file that was downloaded first, by its SHA-256 in {INDEX}"
            if problem:
                # The rest of a wrong answer may still be on its way on this connection.
                session.close()
                raise FetchError(problem)
            return body

        body = session.retry(attempt)
        if session.stop.is_set():
            raise Stopped
        with part_of(path) as part:
            part.write_bytes(body)
        return Note.of(body), len(body)

    def list_failed(self, failed):
        """Write and show what could not be fetched."""
        path = self.root / FAILED
        if not failed:
            path.unlink(missing_ok=True)
            return
        lines = [f"{image.path}\t{' '.join(why.split())}" for image, why in sorted(failed.items())]
        write_whole(path, "\n".join(lines) + "\n")
        print(f"warning: {len(lines)} images failed, see {path}:", file=sys.stderr)
        for line in lines[:10]:
            print("  " + line.replace("\t", ": "), file=sys.stderr)

    def judge(self, selections, failed):
        """Raise DownloadError where too many images of a split have failed."""
        troubles = []
        for selection in selections:
            count = sum(image.split == selection.split for image in failed)
            if count and count >= MAX_FAILED_SHARE * len(selection.chosen):
                troubles.append(f"{count} of {len(selection.chosen)} in {selection.split}2017")
        if troubles:
            raise DownloadError(
                f"too many images failed: {' and '.join(troubles)} (allowed is less than "
                f"{MAX_FAILED_SHARE:.0%}), listed in {self.root / FAILED}; "
                "what was downloaded stays, run again to go on"
            )

    def write_subset(self, selections, failed):
        """Write the subset's folder, which is laid out as COCO but for its file names.

        They lead from its image folders, which stay empty, to the pictures that all subsets
        share. Not every disk has links.
        """
        record = self.subset / "subset.json"
        record.unlink(missing_ok=True)  # it vouches for the others
        for k, selection in enumerate(selections):
            path, folder = self.paths[2 * k : 2 * k + 2]
            names = {image.file_name for image in failed if image.split == selection.split}
            write_whole(path, json.dumps(selection.subset(names, f"../../../{folder.name}/")))
            folder.mkdir(exist_ok=True)
        made_from = self.record(self.index) | {"failed": sorted(image.path for image in failed)}
        write_whole(record, json.dumps(made_from, indent=1))


def download_coco(
    root, classes, train_images=12000, val_images=2000, connections=32, seed=0, progress=True
):
    """Download what some classes need of COCO 2017, and write a data set of it.

    A call that was interrupted goes on where it stopped, and one whose data are complete
    returns once the files' sums are compared. Failed images are retried; fewer than 1 % of a
    split are left out of the subset with a warning. Images that were fetched before and other
    files in `root` stay.

    Parameters
    ----------
    root : path-like
        Folder for the data; made if need be.
    classes : sequence of str
        COCO's names of the wanted categories.
    train_images, val_images : int
        Images to choose of train2017 and val2017, see `coco_selection.select_images`; 0 takes
        all that hold a box of a wanted class. Images with crowd regions only, or without a
        wanted object, are never chosen.
    connections : int
        Kept-alive connections that fetch at once.
    seed : int
        Of the selection.
    progress : bool
        Report on standard error. Failed images and interruptions are reported anyhow.

    Returns
    -------
    DataPaths
        The subset's annotation files and image folders, as `coco_format.find_data` finds them in
        ``root/subsets/NAME``. File names in the former lead from the latter to the pictures in
        ``root/train2017`` and ``root/val2017``: the subset is moved together with `root`.

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
    add("--classes", nargs="+", default=["person", "cell phone"], metavar="NAME",
        help='default: person "cell phone"')  # fmt: skip
    for split, count in (("train", 12000), ("val", 2000)):
        add(f"--{split}-images", type=int, default=count, metavar="N",
            help=f"default: {count}; 0: all that hold a wanted class")  # fmt: skip
    add("--connections", type=int, default=32, metavar="N", help="downloads at a time; default: 32")
    add("--seed", type=int, default=0, help="of the selection; default: 0")
    add("--quiet", action="store_true", help="no progress")
    return parser.parse_args(arguments)


def main(arguments=None):
    """Download as the command line says, and print the subset's folder.

    Returns
    -------
    int
        The exit code: 0, 1 after an error, 130 after an interruption.
    """
    options = vars(parse_arguments(arguments))
    try:
        paths = download_coco(progress=not options.pop("quiet"), **options)
    except DownloadError as error:
        print(f"error: {' '.join(str(error).split())}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    print(paths.train_images.parent)
    return 0


if __name__ == "__main__":
    sys.exit(main())
