"""Draw a detection data set of persons and cell phones, in COCO format.

    python -m data.synthetic.generate OUT --train 1200 --val 300 --seed 0 --jobs 1

It stands in for COCO wherever that cannot be downloaded: jointed figures, and phones seen from any
side, among things that look a little like them, on varied backgrounds, occluded, blurred and noisy.
The annotation files use COCO's layout and category ids, so whatever trains
on this set trains on COCO unchanged.

Every picture is drawn from ``np.random.default_rng([seed, split, index])``, so a set does not
depend on the number of processes. On one machine, with the same NumPy and Pillow, it is the
same byte for byte; elsewhere a float rounded the other way may change single pixels.
"""

import json
import multiprocessing
import re
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

import numpy as np
from commandline import Parser, output_folder
from data.cache import part_of
from data.synthetic.scenes import PERSON, PHONE, sample_scene
from PIL import Image

CATEGORIES = [
    {"id": PERSON, "name": "person", "supercategory": "person"},
    {"id": PHONE, "name": "cell phone", "supercategory": "electronic"},
]
VERSION = 2  # to be raised whenever the pictures change
MARKER = "synthetic.json"
SPLITS = ("train", "val")


def _write_json(path, data):
    """Write a file completely or not at all."""
    with part_of(path) as part:
        part.write_text(json.dumps(data), encoding="utf-8")


def _image_name(split, index):
    # No number is in both parts, so that all pictures can be copied into one folder.
    return f"{index + 1 + (1_000_000 if split else 0):012d}.jpg"


def _draw_file(root, seed, split, index):
    """Draw and write one picture; return its entry, and its annotations, not numbered yet."""
    rng = np.random.default_rng([seed, split, index])
    image, objects = sample_scene(rng)
    name = _image_name(split, index)
    quality = int(rng.integers(75, 95))
    Image.fromarray(image).save(root / "images" / SPLITS[split] / name, quality=quality)
    entry = {
        "id": int(name[:-4]),
        "file_name": name,
        "width": image.shape[1],
        "height": image.shape[0],
    }
    annotations = [
        {
            "image_id": entry["id"],
            "category_id": thing.category_id,
            "bbox": list(thing.bbox),
            "area": thing.area,
            "iscrowd": 0,
            "visible": round(thing.visible, 3),
        }
        for thing in objects
    ]
    return entry, annotations


def _is_complete(root, settings):
    """Return whether `root` holds the whole set; FileExistsError if it holds other pictures."""
    marker = root / MARKER
    if not marker.exists():
        if (root / "annotations").exists() or (root / "images").exists():
            raise FileExistsError(
                f"{root} holds annotations or images that were not drawn here (no {MARKER}); "
                "choose another folder"
            )
        return False
    wanted = [
        root / "images" / name / _image_name(split, k)
        for split, name in enumerate(SPLITS)
        for k in range(settings[f"num_{name}"])
    ]
    drawn = json.loads(marker.read_text(encoding="utf-8"))
    return drawn == {**settings, "complete": True} and all(path.exists() for path in wanted)


def generate_dataset(root, num_train=1200, num_val=300, seed=0, jobs=1):
    """Draw a data set into a folder, unless it is there already; return whether it was drawn.

    Writes ``images/{train,val}/<id>.jpg``, ``annotations/instances_{train,val}.json`` and a
    marker with the settings. A set drawn there with other settings is replaced. FileExistsError if
    the folder has images or annotations of another origin, ValueError for a wrong number.
    """
    if min(num_train, num_val, jobs) < 1 or seed < 0:
        raise ValueError(
            f"num_train={num_train}, num_val={num_val}, jobs={jobs} must be positive and "
            f"seed={seed} not negative"
        )
    root = Path(root)
    settings = {"version": VERSION, "num_train": num_train, "num_val": num_val, "seed": seed}
    if _is_complete(root, settings):
        return False
    (root / "annotations").mkdir(parents=True, exist_ok=True)
    _write_json(root / MARKER, {**settings, "complete": False})
    for split, name in enumerate(SPLITS):
        folder = root / "images" / name
        folder.mkdir(parents=True, exist_ok=True)
        for old in folder.iterdir():
            if re.fullmatch(r"\d{12}\.jpg", old.name):
                old.unlink()
        data = _draw_split(partial(_draw_file, root, seed), split, settings[f"num_{name}"], jobs)
        _write_json(root / "annotations" / f"instances_{name}.json", data)
    _write_json(root / MARKER, {**settings, "complete": True})
    return True


def _draw_split(draw, split, count, jobs):
    """Draw all pictures of a split; return its instances dictionary."""
    if jobs == 1:
        drawn = [draw(split, index) for index in range(count)]
    else:
        # Forking is not safe where JAX has started threads.
        context = multiprocessing.get_context("spawn")
        with ProcessPoolExecutor(jobs, mp_context=context) as pool:
            drawn = list(pool.map(draw, [split] * count, range(count), chunksize=16))
    annotations = [annotation for _, found in drawn for annotation in found]
    return {
        "info": {"description": "synthetic persons and cell phones", "version": str(VERSION)},
        "licenses": [],
        "images": [entry for entry, _ in drawn],
        "annotations": [{"id": k + 1, **annotation} for k, annotation in enumerate(annotations)],
        "categories": CATEGORIES,
    }


def main(arguments=None):
    parser = Parser(description=__doc__.split("\n")[0])
    parser.add_argument("out", type=output_folder, help="folder to write")
    parser.add_argument("--train", type=int, default=1200, help="training images")
    parser.add_argument("--val", type=int, default=300, help="validation images")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    options = parser.parse_args(arguments)
    try:
        drawn = generate_dataset(
            options.out, options.train, options.val, options.seed, options.jobs
        )
    except (FileExistsError, ValueError) as error:
        parser.error(str(error))
    what = f"{options.train} training and {options.val} validation images in {options.out}"
    print(f"drew {what}" if drawn else f"nothing to do: {what} exist already")


if __name__ == "__main__":
    main()
