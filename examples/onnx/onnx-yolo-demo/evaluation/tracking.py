"""Numbers for what is seen in successive frames, by the rules of the page (``count/tracking.js``).

Every known thing is expected where its speed takes it, and is paired with the detection of its
class that overlaps this place most, as SORT does (Bewley et al., 2016, arXiv 1602.00763), but
simpler.
"""

from dataclasses import dataclass, field

import numpy as np
from utils import box_iou

LEAST_OVERLAP = 0.3
SURE_AFTER = 3  # frames in a row; what is seen for shorter gets no number
LOST_AFTER = 30  # frames without it
USUAL_SECONDS = 1 / 30  # between two frames


@dataclass
class Track:
    """A thing that is followed."""

    label: int
    box: np.ndarray  # (4,): x1, y1, x2, y2
    speed: np.ndarray = field(default_factory=lambda: np.zeros(2))  # pixels a second
    hits: int = 1  # frames that it was found in
    missed: int = 0  # frames since then
    seconds: float = 0.0  # since it was found
    number: int = 0  # from 1 in its class; 0 as long as it isn't sure

    def expected(self):
        """Return where the thing should be in the present frame."""
        return self.box + np.tile(self.speed * self.seconds, 2)

    def move_to(self, box):
        """Take half the change of the centre since the last time, and half the known speed."""
        change = (box[:2] + box[2:] - self.box[:2] - self.box[2:]) / 2 / self.seconds
        self.speed = self.speed + (1 if self.hits == 1 else 0.5) * (change - self.speed)
        self.box, self.hits, self.missed, self.seconds = box, self.hits + 1, 0, 0.0


class Tracker:
    """Follows things from frame to frame."""

    def __init__(self):
        self.tracks = []
        self.seen = {}  # how many things of each class have got a number

    def update(self, detections, seconds=USUAL_SECONDS):
        """Return the number of each detection of the next frame; 0 where it isn't sure yet.

        `detections` are (n, 6) as of `evaluation.detectors.detect`, `seconds` since the frame
        before, above 0.
        """
        for track in self.tracks:
            track.seconds += seconds
        known = self._pairs(detections)
        found = []
        for place, row in enumerate(detections):
            track = known.get(place)
            if track is None:
                track = Track(int(row[5]), np.array(row[:4], float))
                self.tracks.append(track)
            else:
                track.move_to(np.array(row[:4], float))
            if track.hits == SURE_AFTER:
                self.seen[track.label] = track.number = self.seen.get(track.label, 0) + 1
            found.append(track)
        for track in self.tracks:
            track.missed += all(track is not other for other in found)
        # What is not sure has to be seen in every frame.
        self.tracks = [
            track
            for track in self.tracks
            if not track.missed or (track.number and track.missed < LOST_AFTER)
        ]
        return [track.number for track in found]

    def _pairs(self, detections):
        """Return the known track of each detection, by place; the largest overlaps come first."""
        if not self.tracks or not len(detections):
            return {}
        overlaps = box_iou(
            np.array([track.expected() for track in self.tracks]),
            np.asarray(detections, float)[:, :4],
        )
        labels = np.array([track.label for track in self.tracks])
        overlaps[labels[:, None] != np.asarray(detections)[None, :, 5]] = 0
        pairs, taken = {}, set()
        for flat in np.argsort(-overlaps, axis=None, kind="stable").tolist():
            own, place = divmod(flat, overlaps.shape[1])
            if overlaps[own, place] < LEAST_OVERLAP:
                break
            if own not in taken and place not in pairs:
                pairs[place] = self.tracks[own]
                taken.add(own)
        return pairs
