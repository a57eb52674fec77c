"""Builds the page in the repository: the one command that writes it.

    python .ci/page.py            after a change of the page's sources, or of what the build puts in
                                  it: with the model in the page
    python .ci/page.py MODEL.onnx --int8 MODEL_int8.onnx --far MODEL_448.onnx --card CARD.md \
        --facts CARD.json         with another model; CARD.md takes the place of what
                                  demo_assets/README.md says of the present one, and CARD.json of
                                  what the page says of it; --far is as of tools.build_demo
    python .ci/page.py --check    writes nothing; exit code 1 if a script would change, but for what
                                  processors round in other ways: the choice of samples, teaching,
                                  Python's outputs; and what onnxruntimes optimize in other ways

`examples/onnx/onnx-yolo-demo/demo_assets/README.md` says where the model comes from.
"""

import argparse
import json
import re
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "examples" / "onnx" / "onnx-yolo-demo"))

import onnx
from tools.build_demo import DEMO, PAGE, STYLE, BuildError, assets_of, hash_of, page_scripts
from tools.sizes import with_size

MOST_BYTES = 8_000_000  # of all that the page is cloned with
README = "demo_assets/README.md"
FACTS = "demo_assets/card.json"
# Prefixes of the assets that depend on the processor, or on onnxruntime.
ROUNDED = ("sample", "teach", "model-graph", "model-boxes", "model-reference", "model-outputs")
ROUNDED += ("model-logits",)
CARD = re.compile(r"(?<=\n## The model\n\n).*?(?=\n## |\Z)", re.DOTALL)  # in the README


def content(text, exact):
    """Return what matters of a script: its assets, whatever packed them, and the rest."""
    rounded = () if exact else ROUNDED
    found = {n: b"" if n.startswith(rounded) else data for n, data in assets_of(text).items()}
    return found, re.sub(r"^demoAssets.add\(.*\n", "", text, flags=re.MULTILINE)


def present_scripts():
    """Return the scripts in the repository."""
    files = sorted(DEMO.glob("demo_assets/*.js"))
    return {str(f.relative_to(DEMO)): f.read_text(encoding="utf-8") for f in files}


def own_scripts(present):
    """Build the scripts as they are today, with the model in them."""
    own = assets_of(present["demo_assets/model.js"])
    info = json.loads(own["model-info"])
    with tempfile.TemporaryDirectory() as folder:
        model = Path(folder) / info["file"]
        model.write_bytes(own["model"])
        int8 = model if info["weights"] == "int8" else None
        far = None
        if "model-far" in own:
            far = Path(folder) / "far.onnx"
            patch = onnx.GraphProto.FromString(own["model-far"])
            onnx.save(with_size(onnx.load(model), patch), far)
        return page_scripts(model, int8, info["export"], DEMO / FACTS, far)


def files_table(model, int8):
    """Return a Markdown table of the model's files: no figure is copied into it manually."""
    rows = ["| file | bytes | SHA-256 |", "| --- | --- | --- |"]
    for path in filter(None, (model, int8)):
        rows.append(f"| `{path.name}` | {path.stat().st_size:,} | `{hash_of(path)}` |")
    return "\n".join(rows) + "\n"


def readme_with(card):
    """Return the README of the page's parts with another text on the model."""
    text = (DEMO / README).read_text(encoding="utf-8")
    if not CARD.search(text):
        raise BuildError(f"{README} has no section '## The model' for the card")
    return CARD.sub(lambda _: card.strip() + "\n", text)


def check_size(scripts):
    """Raise BuildError if the page would be larger than promised."""
    others = [(DEMO / name).stat().st_size for name in (PAGE, STYLE)]
    size = sum(others) + sum(len(text.encode()) for text in scripts.values())
    if size > MOST_BYTES:
        raise BuildError(f"the page would have {size:,} bytes; at most {MOST_BYTES:,} are promised")
    print(f"the page has {size:,} bytes, of at most {MOST_BYTES:,}")


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model", type=Path, nargs="?", help="the exported floats of another model")
    parser.add_argument("--int8", type=Path, help="what tools.quantize has made of it")
    parser.add_argument("--far", type=Path, help="the floats' export at a larger size")
    parser.add_argument("--card", type=Path, help="Markdown on the model for the README")
    parser.add_argument("--facts", type=Path, help="JSON of what the page says of it")
    parser.add_argument("--check", action="store_true", help="write nothing")
    o = parser.parse_args(arguments)
    if o.model is None and (o.int8 or o.far or o.card or o.facts):
        parser.error("--int8, --far, --card and --facts need the model")
    if o.model and o.check:
        parser.error("--check looks at the model in the page")
    present, changes = present_scripts(), {}
    try:
        if o.model is None:
            scripts = own_scripts(present)
        else:
            scripts = page_scripts(o.model, o.int8, card=o.facts, far=o.far)
            changes[FACTS] = o.facts.read_text(encoding="utf-8") if o.facts else "{}\n"
            card = o.card.read_text(encoding="utf-8") if o.card else ""
            changes[README] = readme_with(f"{files_table(o.model, o.int8)}\n{card}")
        check_size(scripts)
    except (BuildError, OSError) as error:
        sys.exit(f"page: error: {error}")
    exact = not o.check
    for name, text in scripts.items():
        if content(text, exact) != content(present.get(name, ""), exact):
            changes[name] = text
    for name, text in changes.items():
        print(f"{'to be built again' if o.check else 'built again'}: {name}")
        if not o.check:
            (DEMO / name).write_text(text, encoding="utf-8", newline="\n")
    if o.check and changes:
        print("run: .venv/bin/python .ci/page.py")
    return int(o.check and bool(changes))


if __name__ == "__main__":
    sys.exit(main())
