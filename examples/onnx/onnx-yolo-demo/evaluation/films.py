"""Frames of films and cameras, by OpenCV or PyAV, whichever is installed."""

import contextlib
import importlib
from pathlib import Path

import numpy as np

FILMS = {".avi", ".m4v", ".mkv", ".mov", ".mp4", ".mpeg", ".mpg", ".ts", ".webm", ".wmv"}
USUAL_RATE = 30.0  # frames a second, where a source doesn't tell
MISSING = (
    "films and cameras need OpenCV or PyAV: 'pip install opencv-python-headless', or "
    "'pip install av'"
)


class FilmError(OSError):
    """A film can't be read or written; the message says why."""


def _library():
    """Return (name, module) of what is installed."""
    for name in ("cv2", "av"):
        with contextlib.suppress(ImportError):
            return name, importlib.import_module(name)
    raise FilmError(MISSING)


def frames(source):
    """Yield (seconds from the start, RGB uint8 (height, width, 3)) of a film or a camera.

    `source` is a path, an address such as ``rtsp://…``, or the number of a camera.

    Raises
    ------
    FilmError
        If neither library is there, or the source can't be opened.
    """
    name, module = _library()
    read = _frames_of_opencv if name == "cv2" else _frames_of_pyav
    return read(module, source)


def _frames_of_opencv(cv2, source):
    capture = cv2.VideoCapture(int(source) if source.isdecimal() else source)
    try:
        if not capture.isOpened():
            raise FilmError(f"{source} can't be opened as a film or a camera")
        rate, count = capture.get(cv2.CAP_PROP_FPS) or USUAL_RATE, 0
        while True:
            there, image = capture.read()
            if not there:
                break
            yield count / rate, np.ascontiguousarray(image[..., ::-1])
            count += 1
    finally:
        capture.release()


def _frames_of_pyav(av, source):
    camera = source.isdecimal()
    try:
        opened = av.open(
            f"/dev/video{source}" if camera else source, format="v4l2" if camera else None
        )
        with opened as container:
            for count, frame in enumerate(container.decode(video=0)):
                seconds = frame.time if frame.time is not None else count / USUAL_RATE
                yield seconds, frame.to_ndarray(format="rgb24")
    except (av.error.FFmpegError, IndexError) as error:
        raise FilmError(f"{source} can't be read as a film or a camera: {error}") from error


class FilmWriter:
    """Writes frames into an MP4 file; a context manager."""

    def __init__(self, path, rate=USUAL_RATE):
        self.path, self.rate = Path(path), rate
        self.name, self.module = _library()
        self.file = self.stream = None

    def write(self, image):
        """Add a frame, uint8 (height, width, 3); an odd last row or column is left out."""
        height, width = (side - side % 2 for side in image.shape[:2])
        image = np.ascontiguousarray(image[:height, :width])
        if self.name == "cv2":
            self._write_by_opencv(image)
        else:
            self._write_by_pyav(image)

    def _write_by_opencv(self, image):
        cv2 = self.module
        if self.file is None:
            code = cv2.VideoWriter_fourcc(*"mp4v")
            size = image.shape[1], image.shape[0]
            self.file = cv2.VideoWriter(str(self.path), code, self.rate, size)
            if not self.file.isOpened():
                raise FilmError(f"{self.path} can't be written as a film")
        self.file.write(image[..., ::-1])

    def _write_by_pyav(self, image):
        av = self.module
        if self.file is None:
            self.file = av.open(str(self.path), "w")
            self.stream = self.file.add_stream("mpeg4", rate=round(self.rate))
            self.stream.width, self.stream.height = image.shape[1], image.shape[0]
            self.stream.pix_fmt = "yuv420p"
            self.stream.bit_rate = 4_000_000
        frame = av.VideoFrame.from_ndarray(image, format="rgb24")
        self.file.mux(self.stream.encode(frame))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.file is None:
            return
        if self.name == "cv2":
            self.file.release()
        else:
            self.file.mux(self.stream.encode())
            self.file.close()
