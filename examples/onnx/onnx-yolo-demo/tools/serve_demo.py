"""Serve the browser page of a detector on this machine, so that it may use several threads.

    python -m tools.serve_demo --page FILE     # then open the address that it prints

Browsers give threads only to pages that come with two headers (COOP and COEP), which files on the
disk can't have.  FILE is the single file that ``tools.build_demo`` has made; it is served with the
script that keeps it for use offline.
"""

import http.server
import sys
from http import HTTPStatus
from pathlib import Path

from commandline import Parser

SERVICE_WORKER = Path(__file__).resolve().parents[1] / "page/sw.js"
TYPES = {"/": "text/html; charset=utf-8", "/sw.js": "text/javascript; charset=utf-8"}
HEADERS = {
    "Cache-Control": "no-store",  # a page that was built again shows at once
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Embedder-Policy": "require-corp",
    "Cross-Origin-Resource-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
}
ADDRESS = "127.0.0.1"


class Handler(http.server.BaseHTTPRequestHandler):
    """Answers GET for the page, whatever its query, and its service worker; refuses the rest."""

    protocol_version = "HTTP/1.1"
    sys_version = ""

    def do_GET(self):
        """Send the page or its service worker."""
        path = self.path.partition("?")[0]
        if path not in TYPES:
            return self.send_error(HTTPStatus.NOT_FOUND)
        data = (self.server.page if path == "/" else SERVICE_WORKER).read_bytes()
        self.send_response(HTTPStatus.OK)
        for name, value in HEADERS.items():
            self.send_header(name, value)
        self.send_header("Content-Type", TYPES[path])
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        """Print nothing: the terminal is for the address."""


class Server(http.server.ThreadingHTTPServer):
    """Serves one file to this machine alone; a browser that goes away in the middle is no error.

    Port 0 takes a free one, which ``server_address`` says; OSError if the port can't be had.
    """

    daemon_threads = True
    allow_reuse_address = sys.platform != "win32"  # there it would share a port that is in use

    def __init__(self, page, port=0):
        self.page = Path(page)
        super().__init__((ADDRESS, port), Handler)

    def handle_error(self, request, client_address):
        """Keep quiet about connections that the browser closed."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


def main(arguments=None):
    """Serve as the command line says; the exit code."""
    parser = Parser(description=__doc__.splitlines()[0])
    parser.add_argument("--port", type=int, default=8000, help="default: 8000; 0: a free one")
    parser.add_argument("--page", type=Path, required=True, help="the page in a single file")
    options = parser.parse_args(arguments)
    if not 0 <= options.port <= 65535:
        parser.error(f"--port must be from 0 to 65535, got {options.port}")
    if not options.page.is_file():
        parser.error(f"there is no {options.page}: python -m tools.build_demo MODEL.onnx makes it")
    try:
        server = Server(options.page, options.port)
    except OSError as error:
        print(f"error: port {options.port}: {error.strerror}; give another --port", file=sys.stderr)
        return 1
    with server:
        address = f"http://{ADDRESS}:{server.server_address[1]}/"
        print(f"serving {address} (Ctrl-C ends it)", flush=True)
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            print()
    return 0


if __name__ == "__main__":
    sys.exit(main())
