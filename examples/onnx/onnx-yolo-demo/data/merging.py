"""Several data sets as one: names merged, and what a set doesn't label noted."""

import re
from collections import Counter
from pathlib import Path

import numpy as np
from data.finding import find
from data.formats import read_part
from data.listing import Boxes, Listing, Part, PartMissingError, Unsplit, choose_classes

_SHARE = re.compile(r"(.+):(\d+\.?\d*|\.\d+)")


def split_share(text):
    """Split ``PATH:SHARE`` into (path, share); the share is None where none is given."""
    found = _SHARE.fullmatch(text)
    if found is None or Path(text).expanduser().exists():
        return text, None
    share = float(found[2])
    if share <= 0:
        raise ValueError(f"{text}: a share must be above 0; leave the data set out instead")
    return found[1], share


def read_parts(paths, split, classes=None, limit=None, shares=None, some=False, kept=()):
    """Read a part of one or of several data sets, as one `Listing`.

    The classes are by default all sets' classes, by name, in the order of their first appearance.
    A set may lack some of the classes: its pictures aren't labelled for them; with `some`, several
    sets may lack a class altogether. A set may lack the part, too, unless all do: one without a
    part for validation is for training as a whole if another has one. `shares` has a number for
    each path, or None for all of them. The classes `kept` come first, whether a set has them or
    not.
    """
    if len(paths) == 1 and not kept:
        return read_part(paths[0], split, classes, limit)
    divide = split != "test" and all(isinstance(find(each, "val"), Unsplit) for each in paths)
    listings, parts, missing = [], [], []
    asked = classes
    if classes is not None:
        classes = [*dict.fromkeys([*kept, *classes])]
    for path, share in zip(paths, shares or [None] * len(paths), strict=True):
        try:
            listings.append(read_part(path, split, classes, limit, some=True, divide=divide))
            parts.append((str(path), share))
        except PartMissingError as error:
            missing.append(error)
    if not listings:
        raise missing[0]
    available = list(dict.fromkeys(name for each in listings for name in each.classes))
    if not some:
        source = " + ".join(str(each.source) for each in listings)
        asked = choose_classes(source, available, asked)
        classes = [*dict.fromkeys([*kept, *asked])]
    return merged(listings, parts if len(paths) > 1 else [], classes)


def merged(listings, parts, classes):
    """Return the `Listing` of several ones; `parts` are their (name, share)."""
    category_ids = _category_ids(listings, classes)
    starts = np.cumsum([0, *(len(each.pictures) for each in listings)]).tolist()
    pictures, labelled, coco = [], [], _empty_coco(classes, category_ids)
    excluded, notes = {}, {}
    for each, start in zip(listings, starts, strict=False):
        ids = {p.image_id: start + n for n, p in enumerate(each.pictures, 1)}
        pictures += [p._replace(image_id=ids[p.image_id]) for p in each.pictures]
        excluded |= {start + place: reason for place, reason in each.excluded.items()}
        notes |= {start + place: note for place, note in each.notes.items()}
        labelled.append(_columns(each, classes))
        if each.coco is not None:
            _add_coco(coco, each, ids, dict(zip(classes, category_ids, strict=True)))
    numbers = [np.array([classes.index(n) for n in each.classes], np.int32) for each in listings]

    def joined(kind):
        own = [
            boxes._replace(owner=boxes.owner + start, label=number[boxes.label])
            for boxes, start, number in zip(kind, starts, numbers, strict=False)
        ]
        return Boxes(*map(np.concatenate, zip(*own, strict=True)))

    rows = np.concatenate(labelled)
    return Listing(
        source=listings[0].source,
        image_dir=listings[0].image_dir,
        classes=classes,
        category_ids=category_ids,
        pictures=pictures,
        boxes=joined([each.boxes for each in listings]),
        regions=joined([each.regions for each in listings]),
        counts=_added_counts(listings),
        excluded=excluded,
        notes=notes,
        coco=coco if coco["images"] else None,
        labelled=None if rows.all() else rows,
        parts=[
            Part(name, start, stop, share)
            for (name, share), start, stop in zip(parts, starts, starts[1:], strict=False)
        ],
    )


def _category_ids(listings, classes):
    """Return COCO's id of each class, of the first set with it; from 1 on if that isn't enough."""
    known = {}
    for each in listings:
        for name, number in zip(each.classes, each.category_ids, strict=True):
            known.setdefault(name, number)
    ids = [known.get(name) for name in classes]
    distinct = None not in ids and len(set(ids)) == len(ids)
    return ids if distinct else [*range(1, len(classes) + 1)]


def _columns(listing, classes):
    """Return ``Listing.labelled`` for other classes; those that the set doesn't know are False."""
    table = np.zeros((len(listing.pictures), len(classes)), bool)
    for column, name in enumerate(listing.classes):
        own = True if listing.labelled is None else listing.labelled[:, column]
        table[:, classes.index(name)] = own
    return table


def _added_counts(listings):
    """Return the sums of all counts."""
    counts, others = Counter(), Counter()
    for each in listings:
        counts.update({name: n for name, n in each.counts.items() if name != "other_classes"})
        others.update(each.counts.get("other_classes", {}))
    return {**counts, "other_classes": dict(others)}


def _empty_coco(classes, category_ids):
    named = zip(category_ids, classes, strict=True)
    return {
        "images": [], "annotations": [],
        "categories": [{"id": number, "name": name} for number, name in named],
    }  # fmt: skip


def _add_coco(coco, listing, ids, number_of):
    """Add what a COCO file holds of the classes, under the numbers of the merged set."""
    categories = {
        old: number_of[name]
        for name, old in zip(listing.classes, listing.category_ids, strict=True)
    }
    coco["images"] += [image | {"id": ids[image["id"]]} for image in listing.coco["images"]]
    coco["annotations"] += [
        a | {"image_id": ids[a["image_id"]], "category_id": categories[a["category_id"]]}
        for a in listing.coco["annotations"]
        if a["category_id"] in categories
    ]
