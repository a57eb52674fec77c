"""Serve the browser page of a detector on this machine, so that it may use several threads.

    python tools/serve_demo.py                 # then open the address that it prints
    python tools/serve_demo.py --open          # opens it itself

The page also works opened from the disk.  But browsers give threads only to pages that come with
two headers (COOP and COEP), which files on the disk can't have.
"""

import argparse
import errno
import http.server
import os
import re
import sys
import webbrowser
from http import HTTPStatus
from pathlib import Path
from urllib.parse import unquote

DEMO = Path(__file__).resolve().parents[1]
PAGE = "yolo_detection_demo.html"
FOLDERS = ("page", "page/src", "demo_assets", "dist")
TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
}
HEADERS = {
    "Cache-Control": "no-store",  # a page that was built anew shows at once
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Embedder-Policy": "require-corp",
    "Cross-Origin-Resource-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
}
ADDRESS = "127.0.0.1"


def find_file(directory, target):
    """The file that a request is for, or None if it isn't one of the page's.

    Parameters
    ----------
    directory : Path
        Resolved.
    target : str
        Of the request: a path, perhaps with a query.
    """
    parts = unquote(re.split("[?#]", target)[0]).split("/")[1:]
    if parts == [""]:
        parts = [PAGE]
    known = parts == [PAGE] or "/".join(parts[:-1]) in FOLDERS
    if not known or Path(parts[-1]).suffix not in TYPES or "\0" in parts[-1]:
        return None
    path = directory.joinpath(*parts)
    # A link, or a separator of another system in the name, might lead elsewhere. Unlike Path's,
    # isfile takes a name that is too long for no file.
    if path.resolve() != path or not os.path.isfile(path):
        return None
    return path


class Handler(http.server.BaseHTTPRequestHandler):
    """Answers GET and HEAD for the files of the page, and refuses everything else."""

    protocol_version = "HTTP/1.1"
    server_version = "serve_demo"
    sys_version = ""

    def do_GET(self):
        """Send a file."""
        data = self._begin()
        if data is not None:
            self.wfile.write(data)

    def do_HEAD(self):
        """Send a file's headers."""
        self._begin()

    def _begin(self):
        path = find_file(self.server.directory, self.path)
        if path is None:
            self.send_error(HTTPStatus.NOT_FOUND)
            return None
        try:
            data = path.read_bytes()
        except OSError:
            self.send_error(HTTPStatus.INTERNAL_SERVER_ERROR, "the file can't be read")
            return None
        self.send_response(HTTPStatus.OK)
        self.send_header("Content-Type", TYPES[path.suffix])
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        return data

    def end_headers(self):
        """End the headers, of errors too, with those that every answer has."""
        for name, value in HEADERS.items():
            self.send_header(name, value)
        super().end_headers()

    def log_message(self, *_):
        """Print nothing: the terminal is for the address."""


class Server(http.server.ThreadingHTTPServer):
    """Serves one page's folder; a browser that goes away in the middle is no error."""

    daemon_threads = True
    allow_reuse_address = sys.platform != "win32"  # there it would share a port that is in use

    def __init__(self, directory, port):
        self.directory = Path(directory).resolve()
        super().__init__((ADDRESS, port), Handler)

    def handle_error(self, request, client_address):
        """Keep quiet about connections that the browser closed."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


def make_server(directory=DEMO, port=0):
    """Make a server of the page in a folder, for this machine alone.

    Parameters
    ----------
    directory : path-like
        That of ``yolo_detection_demo.html``, ``page/``, ``demo_assets/`` and ``dist/``; nothing
        else is served.
    port : int
        0 takes a free one; ``server_address`` says which.

    Returns
    -------
    http.server.ThreadingHTTPServer
        Bound, and not running yet.

    Raises
    ------
    OSError
        If the port can't be had.
    """
    return Server(directory, port)


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--port", type=int, default=8000, help="default: 8000; 0: a free one")
    parser.add_argument(
        "--directory", type=Path, default=DEMO, help="the --output of build_demo.py"
    )
    parser.add_argument("--open", action="store_true", help="open the page in the browser")
    options = parser.parse_args(arguments)
    if not 0 <= options.port <= 65535:
        parser.error(f"--port must be from 0 to 65535, got {options.port}")
    if not (options.directory / PAGE).is_file():
        parser.error(f"--directory {options.directory} has no {PAGE}")
    try:
        server = make_server(options.directory, options.port)
    except OSError as error:
        reason = "is in use" if error.errno == errno.EADDRINUSE else error.strerror
        print(f"error: port {options.port}: {reason}; give another --port", file=sys.stderr)
        return 1
    with server:
        address = f"http://{ADDRESS}:{server.server_address[1]}/"
        if not (options.directory / "demo_assets" / "model.js").is_file():
            print("there is no model yet: python -m tools.build_demo MODEL.onnx")
        print(f"serving {address} (Ctrl-C ends it)", flush=True)
        if options.open:
            webbrowser.open(address)
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            print()
    return 0


if __name__ == "__main__":
    sys.exit(main())
