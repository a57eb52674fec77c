"""onnxruntime-web in an installed Chromium: by WebAssembly, or by WebGPU."""

import base64
import os
import shutil
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

import onnx
from pytensor.link.onnx.compare.base import Runtime, RuntimeFailure, Values
from pytensor.link.onnx.compare.graph import ComparisonError

CHROMIUMS = (
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "chromium-headless-shell",
)
# No sandbox: it needs rights that containers don't give, and the only page is our own
ARGUMENTS = (
    "--no-sandbox",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    # The address bar's list is a page of its own, and takes a second of the processor's time for
    # each window. Of several such options the last counts: from AimEnabled on it is Playwright's.
    "--disable-features=WebUIOmniboxPopup,WebUIOmniboxAimPopup,WebUIOmniboxFullPopup,AimEnabled"
    ",HttpsUpgrades,LensOverlay,MediaRouter,NetworkTimeServiceQuerying,OptimizationHints,Translate"
    ",PaintHolding",
)
# WebGPU as Chromium imitates it, slowly
SOFTWARE = ("--enable-unsafe-webgpu",)
HARDWARE = (*SOFTWARE, "--enable-features=Vulkan", "--ignore-gpu-blocklist")
# Chromium's options for each, to be tried in turn
ADAPTERS = {"wasm": ((),), "webgpu": (HARDWARE, SOFTWARE)}
SCRIPTS = {"wasm": "ort.wasm.min.js", "webgpu": "ort.webgpu.min.js"}
TYPES = {".js": "text/javascript", ".mjs": "text/javascript", ".wasm": "application/wasm"}
MILLISECONDS = 300_000
PAGE = """<!doctype html><meta charset="utf-8"><script src="/SCRIPT"></script><script>
ort.env.logLevel = "error";
ort.env.wasm.numThreads = 1;
ort.env.wasm.wasmPaths = "/";
const ARRAYS = {
  bool: Uint8Array, int8: Int8Array, int16: Int16Array, int32: Int32Array, int64: BigInt64Array,
  uint8: Uint8Array, uint16: Uint16Array, uint32: Uint32Array, uint64: BigUint64Array,
  float32: Float32Array, float64: Float64Array, float16: globalThis.Float16Array ?? Uint16Array,
};
function decode({ type, dims, data }) {
  const bytes = Uint8Array.from(atob(data), (character) => character.charCodeAt(0));
  return new ort.Tensor(type, new ARRAYS[type](bytes.buffer), dims);
}
async function encode(tensor) {
  const data = await tensor.getData();
  const bytes = new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
  let text = "";
  for (let at = 0; at < bytes.length; at += 32768) {
    text += String.fromCharCode(...bytes.subarray(at, at + 32768));
  }
  return { type: tensor.type, dims: [...tensor.dims], data: btoa(text) };
}
async function run([model, provider, inputs]) {
  const session = await ort.InferenceSession.create(model, { executionProviders: [provider] });
  const feeds = Object.entries(inputs).map(([name, value]) => [name, decode(value)]);
  const outputs = await session.run(Object.fromEntries(feeds));
  const found = {};
  for (const [name, tensor] of Object.entries(outputs)) found[name] = await encode(tensor);
  await session.release();
  return found;
}
async function adapter() {
  const found = await navigator.gpu?.requestAdapter();
  return found ? [found.info?.vendor, found.info?.architecture].filter(Boolean).join(" ") : null;
}
</script>"""


def find_chromium() -> str:
    """Return the path of a Chromium: that of the variable ``CHROMIUM``, or else a usual one.

    Raises
    ------
    ComparisonError
        If there is none, or no Playwright to drive it.
    """
    if find_spec("playwright") is None:
        raise ComparisonError("driving the browser needs Playwright: pip install playwright")
    chosen = os.environ.get("CHROMIUM")
    names = [chosen] if chosen else CHROMIUMS
    for name in names:
        if path := shutil.which(name):
            return path
    raise ComparisonError(
        f"no Chromium found ({', '.join(names)}): apt-get install chromium, or set the variable "
        "CHROMIUM to the path of one"
    )


def launch(driver: Any, arguments: Sequence[str] = (), milliseconds: int = MILLISECONDS) -> Any:
    """Start a Chromium without a window by Playwright; return Playwright's browser.

    Parameters
    ----------
    driver : playwright.sync_api.Playwright
    arguments : sequence of str
        More of Chromium's, such as `HARDWARE`.
    milliseconds : int
        That it may take.

    Raises
    ------
    ComparisonError
        If there is none.
    """
    return driver.chromium.launch(
        executable_path=find_chromium(), args=[*ARGUMENTS, *arguments], timeout=milliseconds
    )


class Web(Runtime):
    """Runs models by onnxruntime-web, with one provider, in a Chromium that stays open.

    Attributes
    ----------
    adapter : str
        What WebGPU runs on, such as "google swiftshader", which is software.
    """

    def __init__(self, name: str, provider: str, folder: str | os.PathLike[str]) -> None:
        super().__init__(name)
        self.provider, self.adapter = provider, ""
        self.folder = Path(folder, "dist") if Path(folder, "dist").is_dir() else Path(folder)
        self.script_name = SCRIPTS[provider]
        self.script = (
            "import onnx\n"
            "from pytensor.link.onnx.compare.runtimes import open_runtimes\n"
            f"[web] = open_runtimes([{name!r}], {os.path.abspath(folder)!r})\n"
            'inputs = dict(np.load("inputs.npz"))\n'
            'outputs = list(web.run(onnx.load("model.onnx"), inputs).values())\n'
            "web.close()\n"
        )
        if not (self.folder / self.script_name).exists():
            raise ComparisonError(
                f"{self.folder} has no {self.script_name}: --ort-web names the folder of npm's "
                f"package onnxruntime-web"
            )
        self._files: dict[str, bytes] = {
            "/": PAGE.replace("SCRIPT", self.script_name).encode(),
        }
        self._closing = ExitStack()
        # Playwright starts once in a thread, and not where an event loop runs, such as a notebook's
        self._thread = ThreadPoolExecutor(max_workers=1)
        self._page: Any = None

    def _serve(self) -> str:
        """Start a server of the page, of onnxruntime-web and of models; return its address."""
        files, folder = self._files, self.folder

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                path = self.path.partition("?")[0]
                content, kind = files.get(path), TYPES.get(Path(path).suffix, "text/html")
                if content is None and (folder / Path(path).name).is_file():
                    content = (folder / Path(path).name).read_bytes()
                self.send_response(404 if content is None else 200)
                self.send_header("Content-Type", kind)
                self.end_headers()
                self.wfile.write(content or b"")

            def log_message(self, *arguments: Any) -> None:
                """Print nothing."""

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        self._closing.callback(thread.join)
        self._closing.callback(server.server_close)
        self._closing.callback(server.shutdown)
        return f"http://127.0.0.1:{server.server_port}/"

    def _open(self) -> None:
        find_chromium()
        from playwright.sync_api import sync_playwright

        address = self._serve()
        driver = self._closing.enter_context(sync_playwright())
        for arguments in ADAPTERS[self.provider]:
            browser = launch(driver, arguments)
            page = browser.new_page()
            page.set_default_timeout(MILLISECONDS)
            page.goto(address)
            found = page.evaluate("adapter()") if self.provider == "webgpu" else ""
            if found is not None:
                self._page, self.adapter = page, found
                self._closing.callback(browser.close)
                return
            browser.close()
        raise RuntimeFailure("this Chromium has no WebGPU, not in software either")

    def run(self, proto: onnx.ModelProto, inputs: Mapping[str, np.ndarray]) -> Values:
        """Return a model's outputs by name."""
        return self._thread.submit(self._run, proto, inputs).result()

    def _run(self, proto: onnx.ModelProto, inputs: Mapping[str, np.ndarray]) -> Values:
        from playwright.sync_api import Error

        self._files["/model.onnx"] = proto.SerializeToString()
        feeds = {name: _encode(x) for name, x in inputs.items()}
        try:
            if self._page is None:
                self._open()
            found = self._page.evaluate("run", ["/model.onnx", self.provider, feeds])
        except Error as error:
            raise RuntimeFailure(f"in the browser: {str(error).splitlines()[0]}") from error
        return {v.name: _decode(found[v.name]) for v in proto.graph.output}

    def close(self) -> None:
        """Close Chromium and the server."""
        self._page = None
        self._thread.submit(self._closing.close).result()
        self._thread.shutdown()


def _encode(x: np.ndarray) -> dict[str, Any]:
    data = base64.b64encode(np.ascontiguousarray(x).tobytes()).decode()
    return {"type": x.dtype.name, "dims": list(x.shape), "data": data}


def _decode(tensor: Mapping[str, Any]) -> np.ndarray:
    data = base64.b64decode(tensor["data"])
    return np.frombuffer(data, tensor["type"]).reshape(tensor["dims"])
