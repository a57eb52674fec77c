"""Draws ``docs/images/architecture.svg``: the rooms of the package and of the demo, from imports.

    python -m docs.tools.architecture

A room is a folder, with the lines of code in it. An arrow leads from what imports to what is
imported. One that passes other rooms is left out where shorter ones lead there too.
"""

import ast
from html import escape
from math import ceil
from pathlib import Path

ROOT = Path(__file__).parents[2]
DEMO = ROOT / "examples" / "onnx" / "onnx-yolo-demo"
PICTURE = ROOT / "docs" / "images" / "architecture.svg"

# Rows of rooms, from top to bottom, with what their modules are for. What lies in no other room is
# in ".", the folder's own.
PACKAGE_ROWS = [
    {".": "known modes", "layers": "modules, their files and training"},
    {
        "optimizers": "Adam, Muon, schedules",
        "link/jax": "conversions, jax_mode",
        "link/onnx": "export_onnx, mode ONNX",
        "link/onnx/importing": "from_onnx",
    },
    {"tensor": "Ops, their functions and gradients; rewrites of graphs"},
    {
        "scalar": "stable formulas",
        "graph": "facts about an Op",
        "link/numba": "conversions",
        "link/pytorch": "conversions",
        "link/mlx": "conversions",
    },
]
DEMO_ROWS = [
    {"tools": "make the page, serve it", ".": "train, evaluate, export"},
    {"training": "steps, checkpoints", "evaluation": "mAP, reports"},
    {"data": "data sets, drawn pictures", "page/src": "JavaScript of the page"},
]
WIDTH, LINE, PAD, GAP, ROW_GAP = 190, 15, 8, 30, 46


class Part:
    """The package or the demo: its rooms' sizes, folders, and arrows."""

    def __init__(self, folder, rows):
        self.folder, self.rows = folder, rows
        self.place = {
            room: (row, column)
            for row, rooms in enumerate(rows)
            for column, room in enumerate(rooms)
        }
        files = [*folder.rglob("*.py"), *folder.glob("page/src/*/*.js")]
        self.files = [path for path in sorted(files) if "node_modules" not in path.parts]
        self.lines = {room: {} for room in self.place}
        for path in self.files:
            room = self.room(path)
            inner = path.parent.relative_to(folder / room).as_posix().partition("/")[0]
            sizes = self.lines[room]
            sizes[inner] = sizes.get(inner, 0) + len(path.read_text("utf-8").splitlines())
        root = ROOT if folder.name == "pytensor" else folder
        found = {
            (self.room(path), self.room(other))
            for path in self.files
            for other in imported(path, root)
            if other.is_relative_to(folder)
        }
        self.arrows = self.shown({(one, other) for one, other in found if one != other})

    def room(self, path):
        """Return the room of a file: the innermost folder that is one."""
        names = path.parent.relative_to(self.folder).parts
        for length in range(len(names), 0, -1):
            if (name := "/".join(names[:length])) in self.place:
                return name
        return "."

    def shown(self, arrows):
        """Return arrows without those past other rooms that the others imply, the longest first."""

        def length(arrow):
            (row, column), (other_row, other_column) = (self.place[room] for room in arrow)
            return abs(row - other_row) or abs(column - other_column)

        for arrow in sorted(arrows, key=lambda arrow: (-length(arrow), arrow)):
            if length(arrow) > 1 and arrow[1] in reached(arrow[0], arrows - {arrow}):
                arrows = arrows - {arrow}
        return sorted(arrows)


def reached(start, arrows):
    """Return the rooms to which arrows lead."""
    found, new = set(), {start}
    while new:
        new = {other for one, other in arrows if one in new} - found
        found |= new
    return found


def imported(path, root):
    """Yield the files under a folder that a module of Python imports, anywhere in it."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))) if path.suffix == ".py" else ():
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    for name in names:
        stem = root / name.replace(".", "/")
        files = stem.with_name(f"{stem.name}.py"), stem / "__init__.py"
        yield from (file for file in files if file.exists())


class Drawing:
    """Boxes and arrows of a part, from a corner on."""

    def __init__(self, part, title, left, top):
        self.part, self.left, self.boxes, self.texts = part, left, {}, []
        self.says = {room: says for row in part.rows for room, says in row.items()}
        width = max(len(row) for row in part.rows) * (WIDTH + GAP) - GAP
        self.right, y = left + width + 2 * PAD, top + 40
        for row in part.rows:
            step = width / len(row)
            for number, room in enumerate(row):
                room_width = width if across(room) > 1 else WIDTH
                x = left + PAD + step * number + (step - room_width) / 2
                self.boxes[room] = x, y, room_width, self.height(room)
            y += max(map(self.height, row)) + ROW_GAP
        self.bottom = y - ROW_GAP + PAD + 4
        self.texts += [
            f'<rect class="part" x="{left}" y="{top}" width="{self.right - left:.0f}" '
            f'height="{self.bottom - top:.0f}"/>',
            f'<text class="title" x="{left + PAD + 4}" y="{top + 24}">{title}</text>',
        ]
        self.texts += [self.arrow(*ends) for ends in self.joined()]
        for room in part.place:
            self.texts += self.box(room)

    def inner(self, room):
        """Return the folders of a room, with their lines."""
        return sorted((n, size) for n, size in self.part.lines[room].items() if n != ".")

    def height(self, room):
        return 2 * PAD + LINE * (2 + ceil(len(self.inner(room)) / across(room)))

    def box(self, room):
        x, y, width, height = self.boxes[room]
        total = sum(self.part.lines[room].values())
        yield f'<rect class="room" x="{x:.0f}" y="{y}" width="{width:.0f}" height="{height}"/>'
        name = self.part.folder.name if room == "." else room
        yield text("name", x + PAD, y + PAD + 11, name)
        yield text("number", x + width - PAD, y + PAD + 11, f"{total:,}")
        yield text("says", x + PAD, y + PAD + 11 + LINE, self.says[room])
        for number, (name, size) in enumerate(self.inner(room)):
            row, column = divmod(number, across(room))
            left, right = (part + column * WIDTH for part in (x + PAD, x + WIDTH - PAD))
            line = y + PAD + 11 + LINE * (2 + row)
            yield text("inner", left + 8, line, name)
            yield text("number inner", right, line, f"{size:,}")

    def joined(self):
        """Yield the arrows; two that lead there and back are one with two heads."""
        arrows = set(self.part.arrows)
        for one, other in self.part.arrows:
            if (other, one) not in arrows:
                yield one, other, False
            elif one < other:
                yield one, other, True

    def arrow(self, one, other, both):
        (x1, y1, w1, h1), (x2, y2, w2, h2) = self.boxes[one], self.boxes[other]
        if y1 == y2:
            ends = (x1 + w1, x2) if x1 < x2 else (x1, x2 + w2)
            (start, end), middles = ends, (y1 + 20, y2 + 20)
        else:
            # From the middle of the narrower box, straight where the other is wide enough.
            middle1, middle2 = x1 + w1 / 2, x2 + w2 / 2
            start = min(max(middle2, x1 + 24), x1 + w1 - 24) if w1 > WIDTH else middle1
            end = min(max(middle1, x2 + 24), x2 + w2 - 24)
            middles = (y1 + h1, y2) if y1 < y2 else (y1, y2 + h2)
        heads = 'marker-end="url(#head)"' + (' marker-start="url(#head)"' if both else "")
        return (
            f'<line class="arrow" x1="{start:.0f}" y1="{middles[0]:.0f}" x2="{end:.0f}" '
            f'y2="{middles[1]:.0f}" {heads}/>'
        )


def across(room):
    """Return how many of a room's folders are side by side; if several, it is wide."""
    return 5 if room == "tensor" else 1


def text(kind, x, y, content):
    return f'<text class="{kind}" x="{x:.0f}" y="{y:.0f}">{escape(content)}</text>'


STYLE = """
text { font: 12px system-ui, sans-serif; fill: #1c2733 }
.title { font-size: 16px; font-weight: 600 }
.name { font-weight: 600 }
.number { text-anchor: end; font-variant-numeric: tabular-nums }
.says, .inner { font-size: 11px; fill: #4d5b68 }
.part { fill: #f5f7f9; stroke: #b9c3cc; rx: 10px }
.room { fill: #fff; stroke: #5b7083; rx: 6px }
.arrow, .between { stroke: #2267a8; stroke-width: 1.5; fill: none }
.between { stroke-width: 3 }
.head { fill: #2267a8 }
"""


def used_by_demo(demo, package):
    """Return the rooms of the package that the demo imports."""
    names = {
        package.room(file)
        for path in demo.files
        for file in imported(path, ROOT)
        if file.is_relative_to(ROOT / "pytensor")
    }
    return [room for room in package.place if room in names]


def picture():
    """Draw the picture, as SVG."""
    package, demo = Part(ROOT / "pytensor", PACKAGE_ROWS), Part(DEMO, DEMO_ROWS)
    above = Drawing(demo, "examples/onnx: the detector", 10, 10)
    below = Drawing(package, "The package", 10, above.bottom + 50)
    uses = "imports " + ", ".join(used_by_demo(demo, package))
    says = [
        "An arrow leads from what imports to what is imported; one past other packages",
        "is left out where shorter ones lead there too. Numbers are lines of code.",
    ]
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {below.right + 10:.0f} '
            f'{below.bottom + 10:.0f}" role="img" aria-label="Packages and their imports">',
            f"<style>{STYLE}</style>",
            '<marker id="head" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" '
            'markerHeight="7" markerUnits="userSpaceOnUse" orient="auto-start-reverse">'
            '<path class="head" d="M0 0 8 4 0 8z"/></marker>',
            '<rect width="100%" height="100%" fill="#fff"/>',
            *above.texts,
            *below.texts,
            f'<line class="between" x1="40" y1="{above.bottom:.0f}" x2="40" '
            f'y2="{above.bottom + 50:.0f}" marker-end="url(#head)"/>',
            text("says", 52, above.bottom + 29, uses),
            *(text("says", above.right + 24, 28 + LINE * n, line) for n, line in enumerate(says)),
            "</svg>\n",
        ]
    )


if __name__ == "__main__":
    PICTURE.write_text(picture(), "utf-8")
    print(PICTURE.relative_to(ROOT))
