/**
 * The card "Count": things are followed over the frames of a camera or video, and counted.
 *
 * Of each class: how many are in the picture, how many different ones have been seen, and how many
 * have crossed a line that the user places, in each direction. The line lies where it is seen: in a
 * mirrored picture, things are where the mirror shows them.
 *
 * @import {Line, Point} from "./crossing.js"
 * @import {Drawing, NamedDetection} from "../page/drawing.js"
 * @import {Frame} from "../page/stage.js"
 * @import {Track} from "./tracking.js"
 */

import { follower } from "../page/detection.js";
import { byId } from "../page/environment.js";
import { playOnce } from "../page/loop.js";
import { addLayer, redraw } from "../page/stage.js";
import { demo } from "../page/status.js";
import { setText } from "../page/text.js";
import { directions, Gate } from "./crossing.js";

const KEY_STEP = 0.02; // of the picture; with Shift a quarter of it

let gate = new Gate({ a: { x: 0.1, y: 0.5 }, b: { x: 0.9, y: 0.5 } });
/** @type {Map<string, {now: number, right: number, left: number}>} */
const counts = new Map(); // by class
let wasOn = false;
let counted = ""; // what is being counted in
let ended = false; // the video has come to its end

const isOn = () => byId("count-on").checked;
const hasLine = () => isOn() && byId("line-on").checked;

// ------------------------------------------------------------------------ counting

/** Forget what was counted; numbers are the follower's. */
function forgetCounts() {
  gate = new Gate(gate.line);
  counts.clear();
  ended = false;
}

function startAnew() {
  follower.restart();
  forgetCounts();
}

/** The centre of a box as it is shown. @returns {Point} In shares of the picture. */
function shownCentre({ x1, y1, x2, y2 }, { bitmap, mirrored }) {
  const x = (x1 + x2) / 2 / bitmap.width;
  return { x: mirrored ? 1 - x : x, y: (y1 + y2) / 2 / bitmap.height };
}

function countOf(name) {
  const count = counts.get(name) ?? { now: 0, right: 0, left: 0 };
  counts.set(name, count);
  return count;
}

/**
 * Count what is in a frame; the things that are followed get their numbers.
 * @param {Frame & {bitmap: ImageBitmap, tracks?: Track[]}} frame
 * @param {NamedDetection[]} detections
 */
function see(frame, detections) {
  if (!isOn()) return;
  const source = `${frame.live} ${frame.mirrored} ${frame.title} ${demo.info?.modelName}`;
  if (!frame.live || source !== counted) forgetCounts();
  counted = source;
  for (const count of counts.values()) count.now = 0;
  for (const { name } of detections) countOf(name).now += 1;
  for (const { number, box } of frame.tracks ?? []) if (number) box.number = number;
  // A frame that is seen again, at other thresholds, say, is no further one.
  if (hasLine() && !frame.again) watchLine(frame);
  showCounts();
}

function watchLine(frame) {
  for (const { thing, box, missed } of frame.tracks ?? []) {
    const crossed = missed ? 0 : gate.pass(thing, shownCentre(box, frame));
    if (crossed > 0) countOf(box.name).right += 1;
    if (crossed < 0) countOf(box.name).left += 1;
  }
}

/** @returns {object[]|undefined} What a file of detections says of the counts. */
export function countsToSave() {
  if (!isOn()) return undefined;
  const [right, left] = directions(gate.line).map(({ words }) => words);
  return [...counts].map(([name, count]) => ({
    class: name,
    now: count.now,
    seen: follower.seen[name] ?? 0,
    ...(hasLine() ? { crossed: { [right]: count.right, [left]: count.left } } : {}),
  }));
}

// ------------------------------------------------------------------------ the table

function makeRow() {
  const row = document.createElement("tr");
  const name = document.createElement("th");
  name.scope = "row";
  name.dir = "auto";
  row.append(name, ...Array.from({ length: 4 }, () => document.createElement("td")));
  return row;
}

function showCounts() {
  const body = byId("counts", "tbody");
  while (body.rows.length < counts.size) body.append(makeRow());
  while (body.rows.length > counts.size) body.rows[counts.size].remove();
  [...counts].forEach(([name, { now, right, left }], index) => {
    const texts = [name, now, follower.seen[name] ?? 0, right, left];
    texts.forEach((text, column) => {
      setText(body.rows[index].cells[column], String(text));
    });
  });
  byId("counts-empty").hidden = counts.size > 0;
}

function showDirections() {
  const { rows } = byId("counts-head", "thead");
  directions(gate.line).forEach(({ arrow, words }, index) => {
    const cell = rows[0].cells[3 + index];
    setText(cell.children[0], arrow);
    setText(cell.children[1], `crossed the line ${words}`);
  });
}

// ------------------------------------------------------------------------ the line

/** Where the canvas shows the picture, in pixels of the stage's frame. */
function pictureOnStage() {
  const canvas = byId("stage", "canvas");
  const scale = Math.min(canvas.clientWidth / canvas.width, canvas.clientHeight / canvas.height);
  const [width, height] = [canvas.width * scale, canvas.height * scale];
  const [left, top] = [(canvas.clientWidth - width) / 2, (canvas.clientHeight - height) / 2];
  return { left, top, width, height };
}

function showEnds() {
  const { left, top, width, height } = pictureOnStage();
  for (const end of ["a", "b"]) {
    const { x, y } = gate.line[end];
    const button = byId(`line-${end}`, "button");
    button.hidden = !hasLine();
    button.style.left = `${left + x * width}px`;
    button.style.top = `${top + y * height}px`;
    const place = `${Math.round(100 * x)} % from the left, ${Math.round(100 * y)} % from the top`;
    button.setAttribute(
      "aria-label",
      `${end === "a" ? "First" : "Second"} end of the line: ${place}`,
    );
  }
}

/** @param {Drawing} drawing */
function paint({ context, unit }) {
  showEnds();
  if (!hasLine()) return;
  const { width, height } = context.canvas;
  const { a, b } = gate.line;
  const draw = (colour, lineWidth) => {
    Object.assign(context, { strokeStyle: colour, lineWidth: lineWidth * unit, lineCap: "round" });
    context.beginPath();
    context.moveTo(a.x * width, a.y * height);
    context.lineTo(b.x * width, b.y * height);
    context.stroke();
  };
  draw("#101317", 6);
  draw("#ffe14d", 3);
}

/** Move an end of the line; what was counted at the line before stays. */
function moveEnd(end, { x, y }) {
  const inside = (share) => Math.min(Math.max(share, 0), 1);
  gate = new Gate({ ...gate.line, [end]: { x: inside(x), y: inside(y) } });
  showDirections();
  redraw();
  showEnds();
}

function wireEnd(end) {
  const button = byId(`line-${end}`, "button");
  button.addEventListener("pointerdown", ({ pointerId }) => button.setPointerCapture(pointerId));
  button.addEventListener("pointermove", ({ pointerId, clientX, clientY }) => {
    if (!button.hasPointerCapture(pointerId)) return;
    const stage = byId("stage", "canvas").getBoundingClientRect();
    const { left, top, width, height } = pictureOnStage();
    const x = (clientX - stage.left - left) / width;
    const y = (clientY - stage.top - top) / height;
    moveEnd(end, { x, y });
  });
  button.addEventListener("keydown", (event) => {
    const ways = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    const way = ways[event.key];
    if (!way) return;
    event.preventDefault();
    const step = event.shiftKey ? KEY_STEP / 4 : KEY_STEP;
    const { x, y } = gate.line[end];
    moveEnd(end, { x: x + step * way[0], y: y + step * way[1] });
  });
}

// ------------------------------------------------------------------------ settings

/** @returns {{on: boolean, line: Line|null}} */
export const countingSettings = () => ({ on: isOn(), line: hasLine() ? gate.line : null });

/** @param {boolean} on @param {Line|null} line */
export function setCounting(on, line) {
  byId("count-on").checked = on;
  byId("line-on").checked = line !== null;
  if (line) gate = new Gate(line);
  byId("count-card", "details").open ||= on;
  applyChoice();
}

function applyChoice() {
  byId("line-on").disabled = !isOn();
  byId("line-hint").hidden = !hasLine();
  byId("counts-table", "table").classList.toggle("with-line", hasLine());
  playOnce("counting", isOn());
  if (isOn() !== wasOn) startAnew();
  wasOn = isOn();
  showCounts();
  showDirections();
  redraw();
  showEnds();
}

/** @param {() => void} onChange Called when the present picture has to be seen again. */
export function wireCounting(onChange) {
  addLayer({ see, paint });
  for (const id of ["count-on", "line-on"]) {
    byId(id).addEventListener("change", () => {
      applyChoice();
      onChange();
    });
  }
  byId("count-reset").addEventListener("click", () => {
    startAnew();
    showCounts();
  });
  byId("feed").addEventListener("ended", () => {
    ended = true;
  });
  byId("feed").addEventListener("play", () => ended && startAnew());
  wireEnd("a");
  wireEnd("b");
  applyChoice();
}
