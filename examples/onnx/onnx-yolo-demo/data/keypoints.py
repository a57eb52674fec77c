"""Telling text labels of boxes with keypoints from those of polygons.

A line of either is a class and then numbers: ``cx cy w h`` and the keypoints, each ``x y`` or
``x y visibility``, or the corners of a polygon. Only ``kpt_shape`` in data.yaml says which it is.
"""

import numpy as np

_SLACK = 0.01  # of the picture's side, by which rounding may put a box outside


class Suspicion:
    """Says whether the long lines of a data set can be boxes with keypoints; `see` takes each.

    Lines with keypoints have all the same length and begin with a box inside the picture. Either
    each third number is a visibility, which is 0, 1 or 2 where a polygon's corners are anywhere;
    or, read as a polygon, some of them cross themselves. A triangle can't, so a single keypoint
    has to be in its box, in every line.
    """

    def __init__(self):
        self.lines, self.length, self.possible = 0, 0, True
        self.visibility, self.crossing, self.inside = True, False, True

    def see(self, values):
        """Take the numbers after the class of a line that is no plain box."""
        if not self.possible:
            return
        self.lines += 1
        self.length = self.length or len(values)
        self.possible = len(values) == self.length and _is_box(values[:4])
        points = values[4:]
        self.visibility &= len(points) % 3 == 0 and {*points[2::3]} <= {0, 1, 2}
        if len(points) == 2:
            self.inside &= all(abs(points[k] - values[k]) <= values[k + 2] / 2 for k in (0, 1))
        if self.possible and not self.visibility and not self.crossing and len(values) % 2 == 0:
            self.crossing = _crosses_itself(np.reshape(values, (-1, 2)))

    @property
    def shape(self):
        """The likely ``kpt_shape``, or None if nothing speaks for keypoints."""
        if not self.lines or not self.possible or self.length < 6:
            return None
        if self.visibility:
            return (self.length - 4) // 3, 3
        alike = self.inside if self.length == 6 else self.crossing
        return ((self.length - 4) // 2, 2) if alike else None


def _is_box(values):
    x, y, w, h = values
    reach = 0.5 + _SLACK
    return w > 0 and h > 0 and abs(x - 0.5) + w / 2 <= reach and abs(y - 0.5) + h / 2 <= reach


def _crosses_itself(corners):
    """Whether two sides of a polygon (n, 2) that aren't neighbours cross."""
    count = len(corners)
    ends = np.roll(corners, -1, axis=0)

    def side(a, b, c):  # on which side of the line through a and b is c
        (ax, ay), (bx, by), (cx, cy) = (np.moveaxis(each, -1, 0) for each in (a, b, c))
        return np.sign((bx - ax) * (cy - ay) - (by - ay) * (cx - ax))

    one, other = np.triu_indices(count, 2)
    apart = (other - one) % count < count - 1  # the last side is the first one's neighbour
    a, b, c, d = corners[one], ends[one], corners[other], ends[other]
    crosses = (side(a, b, c) * side(a, b, d) < 0) & (side(c, d, a) * side(c, d, b) < 0)
    return bool((crosses & apart).any())
