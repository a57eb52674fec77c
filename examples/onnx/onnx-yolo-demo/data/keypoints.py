"""Tell text labels of boxes with keypoints from labels of polygons.

A line of either is a class and then numbers: ``cx cy w h`` and the keypoints, each ``x y`` or
``x y visibility``, or the corners of a polygon. Only ``kpt_shape`` in data.yaml says which it is.
"""

from collections import Counter

import numpy as np

LINES = 1000  # these are enough to tell
_MOST, _SOME = 0.9, 0.05  # of them; a few may be wrong
_SLACK = 0.01  # of the picture's side, by which rounding may put a box outside


def guess_shape(lines):
    """Guess ``kpt_shape`` of text labels: (keypoints, numbers of each), or None for polygons.

    `lines` hold the numbers after the class, of lines that are no plain boxes. Those with
    keypoints have the same length and begin with a box inside the picture. Then either each third
    number is a visibility, 0, 1 or 2, where a polygon's corners are anywhere; or, read as
    polygons, some of them cross themselves. A triangle can't, so a single keypoint has to be in
    its box.
    """
    if not lines:
        return None
    length, count = Counter(map(len, lines)).most_common(1)[0]
    if length < 6 or count < _MOST * len(lines):
        return None
    rows = np.array([values for values in lines if len(values) == length])
    boxes, points = rows[:, :4], rows[:, 4:]
    reach = np.abs(boxes[:, :2] - 0.5) + boxes[:, 2:] / 2
    if ((boxes[:, 2:] > 0) & (reach <= 0.5 + _SLACK)).all(axis=1).mean() < _MOST:
        return None
    numbers = length - 4
    if numbers % 3 == 0 and np.isin(points[:, 2::3], (0, 1, 2)).all(axis=1).mean() >= _MOST:
        return numbers // 3, 3
    if numbers % 2:
        return None
    if numbers == 2:
        inside = (np.abs(points - boxes[:, :2]) <= boxes[:, 2:] / 2).all(axis=1)
        return (1, 2) if inside.mean() >= _MOST else None
    crossing = np.mean([_crosses_itself(values.reshape(-1, 2)) for values in rows])
    return (numbers // 2, 2) if crossing >= _SOME else None


def _crosses_itself(corners):
    """Tell whether two sides of a polygon (n, 2) cross."""
    count = len(corners)
    ends = np.roll(corners, -1, axis=0)
    one, other = np.triu_indices(count, 2)
    apart = other - one < count - 1  # the last side begins where the first one ends

    def side(a, b, c):  # of the line through a and b on which c is
        along, to = b - a, c - a
        return np.sign(along[:, 0] * to[:, 1] - along[:, 1] * to[:, 0])

    a, b, c, d = corners[one], ends[one], corners[other], ends[other]
    crosses = (side(a, b, c) * side(a, b, d) < 0) & (side(c, d, a) * side(c, d, b) < 0)
    return bool((crosses & apart).any())
