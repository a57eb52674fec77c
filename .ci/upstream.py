"""Try again what thoughts/upstream says of other libraries, each text by its own program.

    python .ci/upstream.py [NAME ...] [--python PYTHON] [--node-modules FOLDER] [--write]

The blocks of code of a text run together, in one process of PYTHON (by default this one). A comment
of the text, `<!-- wrong: ... -->`, has what they print while the fault is there, one output in a
line; a line between slashes is a regular expression. Each is looked for by itself:

    still wrong    all are found
    partly         some are: look which, and shorten the text
    mended         none is: the text goes, and with it what works around the fault, once
                   pyproject.toml admits no release that has it
    not tried      a library isn't installed

With --write, the line "Tried last: ..." of each text that was tried says the versions.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TEXTS = ROOT / "thoughts" / "upstream"
NODE_MODULES = ROOT / "examples" / "onnx" / "onnx-yolo-demo" / "node_modules"
FILES = {"python": "program.py", "sh": "program.sh", "js": "program.mjs"}
BLOCK = re.compile(r"```(python|sh|js)\n(.*?)```", re.DOTALL)  # not "```python fragment"
WRONG = re.compile(r"<!-- wrong:\n(.*?)\n-->", re.DOTALL)
TRIED = "Tried last: "
SECONDS = 600
# What a program that names it depends on.
LIBRARIES = {
    "pytensor": ("PyTensor", r"\bpytensor\b|upstream_probe"),
    "pymc": ("PyMC", r"\bpymc\b"),
    "jax": ("JAX", r"\bjax\b|JAX"),
    "numba": ("Numba", "NUMBA"),
    "mlx": ("MLX", "MLX"),
    "torch": ("PyTorch", r"\btorch\b"),
    "onnx": ("onnx", r"(import |from |, )onnx\b(?!_)"),
    "onnx-ir": ("onnx_ir", r"\bonnx_ir\b"),
    "onnxruntime": ("onnxruntime", r"\bonnxruntime\b(?!-web)"),
}
ASK = """
import importlib.metadata as metadata, json, sys
found = {}
for name in sys.argv[1:]:
    try:
        found[name] = metadata.version(name)
    except metadata.PackageNotFoundError:
        pass
print(json.dumps(found))
"""


def program(text):
    """Return the language of a text's program, and the program."""
    blocks = BLOCK.findall(text)
    (language,) = {language for language, _ in blocks}
    return language, "\n".join(code for _, code in blocks)


def output_of(text, python, node_modules):
    """Return all that a text's program prints, and how it ended."""
    language, code = program(text)
    flags = re.search(r"# PYTENSOR_FLAGS=(\S+)", code)
    environment = os.environ | {
        "JAX_PLATFORMS": "cpu",
        "PYTENSOR_FLAGS": flags[1] if flags else "",
        "REPOSITORY": str(ROOT),
        "PATH": f"{Path(python).parent}{os.pathsep}{os.environ['PATH']}",
    }
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, FILES[language])
        path.write_text(code)
        if language == "js":
            Path(folder, "node_modules").symlink_to(node_modules)
        command = {"python": [python, "-u"], "sh": ["bash"], "js": ["node"]}[language]
        try:
            done = subprocess.run(
                [*command, path], cwd=folder, env=environment, timeout=SECONDS, text=True,
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            )  # fmt: skip
        except subprocess.TimeoutExpired as error:
            return f"{(error.stdout or b'').decode()}\nended after {SECONDS} s"
    return f"{done.stdout}\nexit status {done.returncode}"


def found_in(line, output):
    """Return whether an output has what a line of a text's comment says."""
    if len(line) > 2 and line[0] == line[-1] == "/":
        return re.search(line[1:-1], output, re.MULTILINE) is not None
    return " ".join(line.split()) in " ".join(output.split())


def verdict(text, output):
    """Return what a program's output says of the fault, and which lines were found."""
    missing = re.search(r"No module named '(torch|mlx|onnxruntime-web)[\w.]*'", output)
    if missing or "ERR_MODULE_NOT_FOUND" in output:
        return "not tried", []
    lines = WRONG.search(text)[1].splitlines()
    found = [line for line in lines if found_in(line, output)]
    if len(found) == len(lines):
        return "still wrong", found
    return "partly" if found else "mended", found


def versions(text, python, node_modules):
    """Return the names and versions of what a text's program runs, in words."""
    language, code = program(text)
    if language == "js":
        facts = json.loads(Path(node_modules, "onnxruntime-web", "package.json").read_text())
        return f"onnxruntime-web {facts['version']}"
    names = [name for name, (_, pattern) in LIBRARIES.items() if re.search(pattern, code)]
    answer = subprocess.run([python, "-c", ASK, *names], capture_output=True, text=True, check=True)
    return ", ".join(f"{LIBRARIES[n][0]} {v}" for n, v in json.loads(answer.stdout).items())


def write(path, text, what, with_versions):
    """Put the line on the last trial at a text's end."""
    words = {"still wrong": "still so", "partly": "partly so", "mended": "mended"}[what]
    body = re.sub(rf"\n{TRIED}.*\n", "\n", text).rstrip()
    path.write_text(f"{body}\n\n{TRIED}{words} with {with_versions}.\n")


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="of texts; by default all")
    parser.add_argument("--python", default=sys.executable, help="of another environment")
    parser.add_argument("--node-modules", type=Path, default=NODE_MODULES, metavar="FOLDER")
    parser.add_argument("--write", action="store_true", help="say in the texts what was tried")
    parser.add_argument("--show", action="store_true", help="show what the programs print")
    options = parser.parse_args()
    texts = {path.stem: path for path in sorted(TEXTS.glob("*.md"))}
    names = options.names or [name for name in texts if name not in ("README", "pull-request")]
    for name in names:
        text = texts[name].read_text()
        output = output_of(text, options.python, options.node_modules)
        what, found = verdict(text, output)
        with_versions = versions(text, options.python, options.node_modules)
        print(f"{what:12} {name} ({with_versions})", flush=True)
        if what == "partly":
            print("".join(f"    {line}\n" for line in found), end="")
        if options.show:
            print("".join(f"    | {line}\n" for line in output.splitlines()), end="")
        if options.write and what != "not tried":
            write(texts[name], text, what, with_versions)


if __name__ == "__main__":
    main()
