"""Follow things from frame to frame of a film, and choose the boxes that are drawn.

The rules are the page's: ``page/src/count/tracking.js`` explains them, and both are tested with
``page/test/tracks.json``.  As ByteTrack does (Zhang et al., 2022, arXiv 2110.06864), but simpler,
detections above their threshold choose first, and weak ones may keep a thing that is drawn.
"""

from dataclasses import dataclass, field

import numpy as np
from utils import box_iou

# Shares of its class's threshold that a detection's score must exceed
STAY = 0.4  # to keep a thing that is drawn
KNOWN = 0.2  # to be followed, though not drawn
CLEARLY = 1.5  # to be drawn at once where nothing was known
CLEARLY_MORE = 2.0  # to be drawn at once where a thing was weak before
ENOUGH = 0.3  # thresholds times seconds: the sum from which a weak thing is drawn
LONGEST_STEP = 0.25  # seconds that one frame counts for in that sum
LEAST_OVERLAP = 0.1
SURE_FRAMES, SURE_SECONDS = 3, 0.5  # in a row above the threshold; then a thing gets a number
LOST_AFTER = 30  # frames without it
DRAWN_SECONDS = 0.25  # without it
KNOWN_SECONDS = 1.0  # without it, of a thing that isn't drawn
LOST_SECONDS = 1e9  # of a thing of which only the place is known
USUAL_SECONDS = 1 / 30  # between two frames
# How fast drawn corners follow: per second, and per side of the box that they are behind
CORNERS_BY_SECOND, CORNERS_BY_SIDE, SCORE_BY_SECOND = 5, 30, 2
LEAST_NEW_SPEED = 0.25  # share of the newest speed in the known one


@dataclass(eq=False)
class Track:
    """A thing that is followed."""

    box: np.ndarray  # (4,): x1, y1, x2, y2, smoothed, when it was found last
    score: float  # smoothed
    label: int
    shown: bool  # whether it has ever been drawn
    in_row: int  # frames above the threshold, up to the last one it was found in
    excess: float = 0.0  # of its scores over the threshold, while it isn't drawn; see `ENOUGH`
    speed: np.ndarray = field(default_factory=lambda: np.zeros(2))  # pixels a second
    above_seconds: float = 0.0  # how long these frames took
    hits: int = 1  # frames that it was found in
    missed: int = 0  # frames since then
    seconds: float = 0.0  # since it was found
    number: int = 0  # from 1 in its class; 0 as long as it isn't sure

    @property
    def is_recent(self):
        """Tell whether it was found a moment ago."""
        return self.seconds <= DRAWN_SECONDS

    @property
    def is_kept(self):
        """Tell whether it may still be found again."""
        waits = DRAWN_SECONDS if self.shown else KNOWN_SECONDS
        return self.seconds <= waits or (self.number and self.missed < LOST_AFTER)

    def expected(self):
        """Return where the thing should be in the present frame."""
        return self.box + np.tile(self.speed * self.seconds, 2)

    def miss(self):
        """Note a frame without it."""
        self.in_row, self.above_seconds, self.missed = 0, 0.0, self.missed + 1

    def find(self, box, score, limit, is_fresh):
        """Note a detection; one that trembles around the old box hardly moves it."""
        seconds, old = self.seconds, self.expected()
        side = max((box[2] - box[0] + box[3] - box[1]) / 2, 1)
        behind = abs(box - old).max()
        corners = 1 - np.exp(-CORNERS_BY_SECOND * seconds - CORNERS_BY_SIDE * behind / side)
        new = old + corners * (box - old)
        way = (new[:2] + new[2:] - self.box[:2] - self.box[2:]) / 2
        self.speed = self.speed + max(1 / self.hits, LEAST_NEW_SPEED) * (way / seconds - self.speed)
        self.score += (1 - np.exp(-SCORE_BY_SECOND * seconds)) * (score - self.score)
        if not self.shown:
            step = min(seconds, LONGEST_STEP)
            self.excess = max(self.excess + (score / limit - 1) * step, 0.0)
            clearly = 1 if is_fresh else CLEARLY_MORE
            if self.excess > ENOUGH or score > clearly * limit:
                self.shown, self.score = True, max(self.score, score)
        is_above = self.shown and score > limit
        self.above_seconds = self.above_seconds + seconds if is_above and self.in_row else 0.0
        self.in_row = self.in_row + 1 if is_above else 0
        self.box, self.hits, self.missed, self.seconds = new, self.hits + 1, 0, 0.0


class Tracker:
    """Follows things from frame to frame.

    Parameters
    ----------
    thresholds : array_like of float, shape (classes,)
        Scores that a thing must exceed to be drawn.
    """

    def __init__(self, thresholds):
        self.thresholds = np.asarray(thresholds, float)
        self.tracks = []
        self.seen = {}  # how many things of each class have got a number
        self.is_fresh = True  # nothing is known of what is in view

    def update(self, detections, seconds=USUAL_SECONDS):
        """Follow the things of the next frame.

        Parameters
        ----------
        detections : array, (n, 6)
            As of `evaluation.detectors.detect`, with scores above `KNOWN` times the thresholds.
        seconds : float
            Since the frame before, above 0.

        Returns
        -------
        drawn : float64 array, (m, 6)
            As `detections`, the best score first.
        numbers : list of int
            Of the things drawn; 0 where one isn't sure yet.
        """
        detections = np.reshape(np.asarray(detections, float), (-1, 6))
        limits = self.thresholds[detections[:, 5].astype(int)]
        sure, weak = detections[:, 4] > limits, detections[:, 4] > STAY * limits
        everything = np.ones(len(detections), bool)
        shown = [track for track in self.tracks if track.shown]
        hidden = [track for track in self.tracks if not track.shown]
        recent = [track for track in shown if track.is_recent]
        for track in self.tracks:
            track.seconds += seconds
        pairs = {}
        for tracks, wanted in ((shown, sure), (recent, weak & ~sure), (hidden, everything)):
            _pair(pairs, tracks, detections, wanted)
        for track in self.tracks:
            if track in pairs:
                row = detections[pairs[track]]
                track.find(row[:4], row[4], limits[pairs[track]], self.is_fresh)
            else:
                track.miss()
        self.tracks = [track for track in self.tracks if track.is_kept]
        clearly = 1 if self.is_fresh else CLEARLY
        for place in sorted({*range(len(detections))} - {*pairs.values()}):
            box, score, label = np.split(detections[place], [4, 5])
            shown = bool(score > clearly * limits[place])
            self.tracks.append(Track(box, score.item(), int(label[0]), shown, int(shown)))
        self.is_fresh = False
        for track in self.tracks:
            is_counted = track.in_row >= SURE_FRAMES and track.above_seconds >= SURE_SECONDS
            if is_counted and not track.number:
                self.seen[track.label] = track.number = self.seen.get(track.label, 0) + 1
        return self._drawn()

    def jump(self):
        """Forget what is known but for places of numbered things: the film goes on elsewhere."""
        self.tracks = [track for track in self.tracks if track.number]
        for track in self.tracks:
            track.speed, track.seconds = np.zeros(2), LOST_SECONDS
        self.is_fresh = True

    def _drawn(self):
        drawn = [track for track in self.tracks if track.shown and track.is_recent]
        drawn.sort(key=lambda track: -track.score)
        rows = [[*track.expected(), track.score, track.label] for track in drawn]
        return np.reshape(np.array(rows, float), (-1, 6)), [track.number for track in drawn]


def _pair(pairs, tracks, detections, wanted):
    """Pair tracks with the `wanted` detections that are left: at expected places, then at old ones.

    Of each class the largest overlaps come first.
    """
    for place_of in (Track.expected, lambda track: track.box):
        own = [track for track in tracks if track not in pairs]
        places = [k for k in np.flatnonzero(wanted) if k not in {*pairs.values()}]
        if not own or not places:
            return
        rows = detections[places]
        overlaps = box_iou(np.array([place_of(track) for track in own]), rows[:, :4])
        overlaps[np.array([track.label for track in own])[:, None] != rows[:, 5]] = 0
        for flat in np.argsort(-overlaps, axis=None, kind="stable").tolist():
            i, j = divmod(flat, len(places))
            if overlaps[i, j] < LEAST_OVERLAP:
                break
            if own[i] not in pairs and places[j] not in pairs.values():
                pairs[own[i]] = places[j]
