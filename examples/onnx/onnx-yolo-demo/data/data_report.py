"""What a data set holds and what was left out of it, in words."""

_MOST_NAMES = 20  # of pictures, for each kind of remark
_MOST_CLASSES = 10

_NOTES = {
    "clipped": "boxes clipped to their image",
    "zero_area": "boxes without area dropped",
    "crowd": "crowd regions not used for training",
    "duplicates": "duplicate boxes dropped",
    "from_segmentation": "boxes made from segmentations",
    "from_polygon": "boxes made from polygons",
    "no_label_file": "images have no label file and are taken as background",
}


def summarize(title, report, named, note):
    """Counts and everything that was left out or changed.

    Parameters
    ----------
    title : str
    report : dict
        `Dataset.report`.
    named : dict of str to list of (str, str)
        Pictures that were skipped or changed: file name and reason. At most 20 of a kind are
        shown.
    note : str
        Where the decoded pictures came from.

    Returns
    -------
    str
    """
    sizes = ", ".join(f"{share:.0%} {size}" for size, share in report["box_sizes"].items())
    lines = [
        f"{title}: {report['images']} images ({report['background']} without boxes), "
        f"{report['boxes']} boxes ({_counts(report['per_class'])})",
        f"  box sizes in the pictures: {sizes} (limits 32² and 96² pixels)",
    ]
    if note:
        lines.append(f"  pictures {note}")
    lines += [f"  {report[key]} {text}" for key, text in _NOTES.items() if report[key]]
    other = report["other_classes"]
    if other:
        shown = dict(list(other.items())[:_MOST_CLASSES])
        more = f" and {len(other) - len(shown)} more" if len(other) > len(shown) else ""
        lines.append(f"  {sum(other.values())} boxes of other classes: {_counts(shown)}{more}")
    if report["left_out_classes"]:
        names = ", ".join(report["left_out_classes"])
        lines.append(f"  categories that only group others, not used: {names}")
    for kind, found in named.items():
        if found:
            lines.append(f"  {len(found)} files {kind}:")
            lines += [f"    {name}: {reason}" for name, reason in found[:_MOST_NAMES]]
            if len(found) > _MOST_NAMES:
                lines.append(f"    ... and {len(found) - _MOST_NAMES} more")
    return "\n".join(lines)


def _counts(counts):
    return ", ".join(f"{name} {count}" for name, count in counts.items())
