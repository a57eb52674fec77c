"""serve_demo.py: headers, types, and what it refuses."""

import http.client
import os
import signal
import socket
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from tools import serve_demo
from tools.serve_demo import HEADERS, make_server

PAGE = "yolo_detection_demo.html"
FILES = {
    PAGE: "text/html; charset=utf-8",
    "page/main.js": "text/javascript; charset=utf-8",
    "page/page.css": "text/css; charset=utf-8",
    "demo_assets/model.js": "text/javascript; charset=utf-8",
    f"dist/{PAGE}": "text/html; charset=utf-8",
}
PRIVATE = [
    "package.json", ".npmrc", "build_demo.py", "node_modules/a.js", "page/notes.md", "page/a/b.js",
    "demo_assets/model.onnx", "other.html",
]  # fmt: skip


@pytest.fixture
def folder(tmp_path):
    root = tmp_path / "demo"
    for name in [*FILES, *PRIVATE]:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"content of {name}")
    (tmp_path / "secret.js").write_text("secret")
    (root / "page/link.js").symlink_to(tmp_path / "secret.js")
    (root / "page/folder.js").mkdir()
    return root


@pytest.fixture
def ask(folder):
    """Function from a request's target to the answer and its body."""
    with make_server(folder) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()

        def ask(target, method="GET"):
            connection = http.client.HTTPConnection(*server.server_address, timeout=10)
            try:
                connection.putrequest(method, target)  # sends it as it is
                connection.endheaders()
                answer = connection.getresponse()
                return answer, answer.read().decode()
            finally:
                connection.close()

        yield ask
        server.shutdown()
        thread.join()


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_files_of_the_page(ask, name, method):
    answer, body = ask(f"/{name}?a=../b#c", method)
    assert answer.status == 200
    assert answer.getheader("Content-Type") == FILES[name]
    assert body == (f"content of {name}" if method == "GET" else "")
    assert int(answer.getheader("Content-Length")) == len(f"content of {name}")
    for header, value in HEADERS.items():
        assert answer.headers.get_all(header) == [value]


def test_headers_that_give_threads():
    assert HEADERS["Cross-Origin-Opener-Policy"] == "same-origin"
    assert HEADERS["Cross-Origin-Embedder-Policy"] == "require-corp"
    assert HEADERS["Cache-Control"] == "no-store"


def test_the_folder_itself_is_the_page(ask):
    assert ask("/")[1] == f"content of {PAGE}"


@pytest.mark.parametrize(
    "target",
    [
        *(f"/{name}" for name in PRIVATE),
        *("/page", "/page/", "/demo_assets/", "/dist/", "/[", "/page//main.js", "/./" + PAGE),
        *("/page/absent.js", "/page/link.js", "/page/folder.js", "/page/a\\..\\b.js"),
        *(
            "/page/../tools/build_demo.py",
            "/page/../../secret.js",
            "/../secret.js",
            "/page/../page/main.js",
        ),
        *("/page/%2e%2e/secret.js", "/page/..%2f..%2fsecret.js", "/%2e%2e/secret.js"),
        *("/page/main.js%00", "/page/%00.js", "/etc/passwd", "//etc/passwd", "page/main.js"),
        f"/page/{'a' * 300}.js",
    ],
)
def test_everything_else_is_refused(ask, target):
    answer, body = ask(target)
    assert answer.status in (400, 404)
    assert "content of" not in body
    assert "secret" not in body
    assert answer.getheader("Cross-Origin-Embedder-Policy") == "require-corp"


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS"])
def test_other_methods(ask, method):
    assert ask(f"/{PAGE}", method)[0].status == 501


def test_a_file_that_cannot_be_read(ask, monkeypatch):
    def refuse(self):
        raise PermissionError(13, "denied")

    monkeypatch.setattr(Path, "read_bytes", refuse)
    assert ask("/page/main.js")[0].status == 500


def test_only_this_machine(folder):
    with make_server(folder) as server:
        assert server.server_address[0] == "127.0.0.1"


def test_port_in_use(folder, capsys):
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        assert serve_demo.main(["--port", str(port), "--directory", str(folder)]) == 1
    error = capsys.readouterr().err
    assert error == f"error: port {port}: is in use; give another --port\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--port", "70000"], "--port must be from 0 to 65535, got 70000"),
        (["--directory", "/nowhere"], "--directory /nowhere has no yolo_detection_demo.html"),
    ],
)
def test_arguments(arguments, message, capsys):
    with pytest.raises(SystemExit):
        serve_demo.main(arguments)
    assert message in capsys.readouterr().err


def test_ctrl_c_ends_it_quietly(folder):
    (folder / "demo_assets/model.js").unlink()
    process = subprocess.Popen(
        [sys.executable, serve_demo.__file__, "--port", "0", "--directory", folder],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={"PATH": os.environ["PATH"]},
    )
    with process:
        try:
            assert process.stdout.readline() == (
                "there is no model yet: python -m tools.build_demo MODEL.onnx\n"
            )
            address = process.stdout.readline()
            assert address.startswith("serving http://127.0.0.1:")
            host = address.split("/")[2]
            connection = http.client.HTTPConnection(host, timeout=10)
            connection.request("GET", "/")
            assert connection.getresponse().status == 200
            connection.close()
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=20)
        finally:
            process.kill()
    assert process.returncode == 0
    assert (out.strip(), err) == ("", "")


def test_opens_the_browser(folder, monkeypatch, capsys):
    opened = []

    def stop(self):
        raise KeyboardInterrupt

    monkeypatch.setattr(serve_demo.webbrowser, "open", opened.append)
    monkeypatch.setattr(serve_demo.Server, "serve_forever", stop)
    assert serve_demo.main(["--port", "0", "--open", "--directory", str(folder)]) == 0
    (address,) = opened
    assert f"serving {address} (Ctrl-C ends it)" in capsys.readouterr().out
