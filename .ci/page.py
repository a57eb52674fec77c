"""Builds the page that lies in the repository anew, from the model that lies in it.

    python .ci/page.py            after a change of the page's sources, or of what the build puts in
    python .ci/page.py --check    writes nothing; exit code 1 if a script would change, but for what
                                  processors round in other ways: the choice of samples, teaching;
                                  and what onnxruntimes optimize in other ways

`examples/onnx/onnx-yolo-demo/demo_assets/README.md` says where the model comes from.
"""

import base64
import json
import re
import sys
import tempfile
from pathlib import Path

import zstandard

sys.path.insert(0, str(Path(__file__).parents[1] / "examples" / "onnx" / "onnx-yolo-demo"))

from tools.build_demo import DEMO, build

SCRIPTS = ("page.js", "runtime.js", "model.js")


def assets(text):
    """What a script puts into the page, unpacked, by name."""
    calls = re.findall(r'^demoAssets\.add\("(.*?)", "(.*?)"\);$', text, re.MULTILINE)
    return {name: zstandard.decompress(base64.b64decode(data)) for name, data in calls}


def content(folder, script, exact=True):
    """What matters of a script: its assets, whatever packed them, and the rest of its text."""
    text = (folder / "demo_assets" / script).read_text(encoding="utf-8")
    rounded = () if exact else ("sample", "teach", "model-graph")
    found = {n: b"" if n.startswith(rounded) else data for n, data in assets(text).items()}
    return found, re.sub(r'^demoAssets.add\(.*\n', "", text, flags=re.MULTILINE)


def main(arguments):
    check = arguments == ["--check"]
    own, _ = content(DEMO, "model.js")
    with tempfile.TemporaryDirectory() as folder:
        model = Path(folder) / json.loads(own["model-info"])["file"]
        model.write_bytes(own["model"])
        build(model, output=folder, int8=model)
        exact, new = not check, Path(folder)
        changed = [s for s in SCRIPTS if content(DEMO, s, exact) != content(new, s, exact)]
        for script in changed:
            print(f"{'to be built anew' if check else 'built anew'}: demo_assets/{script}")
            if not check:
                built = new / "demo_assets" / script
                (DEMO / "demo_assets" / script).write_bytes(built.read_bytes())
    if check and changed:
        print("run: .venv/bin/python .ci/page.py")
    return int(check and bool(changed))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
