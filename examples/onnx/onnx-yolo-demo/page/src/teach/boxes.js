/**
 * Drawing boxes on a picture, by pointer or by keys, and their geometry.
 *
 * A drag draws a new box; within the selected box it moves it, at its edges it changes its size. A
 * click selects the smallest box there, so large boxes don't cover the small ones in them. For the
 * keyboard each box is a button.
 *
 * @import {Box} from "./teacher.js"
 */
import { inkOn } from "../page/colours.js";
import { isolate, setText } from "../page/text.js";

/** @typedef {{width: number, height: number}} Size Of a picture in pixels. */
/** @typedef {{x: -1|0|1, y: -1|0|1}} Edges Left or right, upper or lower; two zeros are the whole box. */

const LEAST_SIDE = 3; // pixels of a box
const CLICK_PX = 4; // on the screen: what moves less is a click
const REACH_PX = 8; // on the screen: so near to an edge a drag takes it
const TOUCH_REACH_PX = 18;
const FAST = 0.01; // of the longer side at each repeat of a key that is held
const NAME_ROOM = 0.1; // of the picture's height above a box, for its name

/** @type {{boxes: Box[], bitmap: Size}} */
const NOTHING = { boxes: [], bitmap: { width: 0, height: 0 } };
const WHOLE = /** @type {Edges} */ ({ x: 0, y: 0 });
const LOWER_RIGHT = /** @type {Edges} */ ({ x: 1, y: 1 });
const ARROWS = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
};

const clamp = (value, low, high) => Math.min(Math.max(value, low), high);

/**
 * The box with two opposite corners, within the picture.
 * @param {number[]} a
 * @param {number[]} b
 * @param {Size} size
 */
export function boxBetween([ax, ay], [bx, by], { width, height }) {
  const [x1, x2] = [ax, bx].map((x) => clamp(x, 0, width)).sort((a, b) => a - b);
  const [y1, y2] = [ay, by].map((y) => clamp(y, 0, height)).sort((a, b) => a - b);
  return { x1, y1, x2, y2 };
}

/** Both ends of one side after a drag by `by`. */
function draggedSide(low, high, edge, by, limit) {
  const least = Math.min(LEAST_SIDE, limit);
  if (edge < 0) return [clamp(low + by, 0, Math.max(high - least, 0)), high];
  if (edge > 0) return [low, clamp(high + by, Math.min(low + least, limit), limit)];
  const shift = clamp(by, -low, limit - high);
  return [low + shift, high + shift];
}

/**
 * A box after a drag: it stays within the picture and keeps a least size.
 * @param {Box} box
 * @param {Edges} edges Which of its edges are dragged.
 * @param {number} dx
 * @param {number} dy
 * @param {Size} size
 * @returns {Box}
 */
export function dragged(box, edges, dx, dy, size) {
  const whole = !edges.x && !edges.y;
  const by = { x: whole || edges.x ? dx : 0, y: whole || edges.y ? dy : 0 };
  const [x1, x2] = draggedSide(box.x1, box.x2, edges.x, by.x, size.width);
  const [y1, y2] = draggedSide(box.y1, box.y2, edges.y, by.y, size.height);
  return { ...box, x1, y1, x2, y2 };
}

/** Which end of a side a place is at; null beyond both. @returns {-1|0|1|null} */
function endAt(place, low, high, reach) {
  if (place < low - reach || place > high + reach) return null;
  const inner = Math.min(reach, (high - low) / 4); // small boxes can be moved, too
  if (place <= low + inner) return -1;
  return place >= high - inner ? 1 : 0;
}

/** What of a box a drag at a place takes; null if the place is outside. @returns {Edges|null} */
export function edgesAt(box, x, y, reach) {
  const [atX, atY] = [endAt(x, box.x1, box.x2, reach), endAt(y, box.y1, box.y2, reach)];
  return atX === null || atY === null ? null : { x: atX, y: atY };
}

const area = (box) => (box.x2 - box.x1) * (box.y2 - box.y1);

/** The smallest box around a place. @param {Box[]} boxes @returns {Box|undefined} */
export function boxAt(boxes, x, y) {
  const around = boxes.filter((b) => b.x1 <= x && x <= b.x2 && b.y1 <= y && y <= b.y2);
  return around.sort((a, b) => area(a) - area(b))[0];
}

/** The cursor over a part of a box. @param {Edges|null} edges */
function cursorFor(edges) {
  if (!edges) return "crosshair";
  if (!edges.x && !edges.y) return "move";
  if (edges.x && edges.y) return edges.x === edges.y ? "nwse-resize" : "nesw-resize";
  return edges.x ? "ew-resize" : "ns-resize";
}

/**
 * One picture with its boxes, which are changed in place.
 *
 * A drag is the pointer's way between being pressed and let go.
 */
export class BoxEditor {
  #surface;
  #canvas;
  #handlers;
  /** @type {{bitmap: ImageBitmap, boxes: Box[]}|null} */
  #frame = null;
  /** @type {Box|null} */
  #selected = null;
  /** @type {Map<Box, HTMLButtonElement>} */
  #buttons = new Map();
  /** @type {{from: number[], edges: Edges|null, before: Box|null, drawn: Box|null}|null} */
  #drag = null;
  #disabled = false;

  /**
   * @param {HTMLElement} surface Holds a canvas; gets a button for each box.
   * @param {object} handlers
   * @param {() => void} handlers.onChange A box was made, moved or removed.
   * @param {() => void} handlers.onSelect Another box is selected, or none.
   * @param {(box: Box) => void} handlers.onDrawn A new box is there.
   * @param {() => string} handlers.newLabel Of a new box.
   * @param {(label: string) => string} handlers.colourOf
   */
  constructor(surface, handlers) {
    this.#surface = surface;
    this.#canvas = /** @type {HTMLCanvasElement} */ (surface.querySelector("canvas"));
    this.#handlers = handlers;
    surface.addEventListener("pointerdown", (event) => this.#press(event));
    surface.addEventListener("pointermove", (event) => this.#move(event));
    surface.addEventListener("pointerup", (event) => this.#release(event));
    surface.addEventListener("pointercancel", () => this.#cancel());
    surface.addEventListener("keydown", (event) => this.#key(event));
  }

  get selected() {
    return this.#selected;
  }

  /** While it is on, nothing can be changed. */
  set disabled(on) {
    this.#disabled = on;
    this.draw();
  }

  /** @param {{bitmap: ImageBitmap, boxes: Box[]}|null} frame */
  show(frame) {
    this.#drag = null;
    this.#frame = frame;
    if (frame) {
      const { width, height } = frame.bitmap;
      Object.assign(this.#canvas, { width, height });
      this.#canvas.getContext("2d")?.drawImage(frame.bitmap, 0, 0);
      this.#surface.style.setProperty("--ratio", String(width / height));
    }
    this.select(null);
  }

  /** @param {Box|null} box */
  select(box) {
    this.#selected = box;
    this.draw();
    this.#handlers.onSelect();
  }

  /** Add a box in the middle of the picture, and give it the keyboard. */
  addInMiddle() {
    if (!this.#frame || this.#disabled) return;
    const { width, height } = this.#frame.bitmap;
    const middle = { x1: width / 3, y1: height / 3, x2: (2 * width) / 3, y2: (2 * height) / 3 };
    this.#add({ ...middle, label: this.#handlers.newLabel() });
    this.#finish();
  }

  remove() {
    const boxes = this.#frame?.boxes;
    if (!boxes || !this.#selected || this.#disabled) return;
    const at = boxes.indexOf(this.#selected);
    boxes.splice(at, 1);
    this.select(boxes[Math.min(at, boxes.length - 1)] ?? null);
    this.focus();
    this.#handlers.onChange();
  }

  /** Give the keyboard to the selected box, or to the picture. */
  focus() {
    const button = this.#selected && this.#buttons.get(this.#selected);
    (button ?? this.#surface).focus({ preventScroll: true });
  }

  // ------------------------------------------------------------------------ what is seen

  /** Bring the buttons to the boxes' places. */
  draw() {
    const { boxes, bitmap } = this.#frame ?? NOTHING;
    for (const [box, button] of this.#buttons) {
      if (boxes.includes(box)) continue;
      button.remove();
      this.#buttons.delete(box);
    }
    for (const [index, box] of boxes.entries()) {
      this.#place(box, `Box ${index + 1} of ${boxes.length}`, bitmap);
    }
  }

  #makeButton(box) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "box";
    const name = document.createElement("span");
    name.className = "box-name";
    name.dir = "auto";
    button.append(name);
    button.addEventListener("focus", () => box !== this.#selected && this.select(box));
    this.#surface.append(button);
    this.#buttons.set(box, button);
    return button;
  }

  /** @param {Box} box @param {string} title @param {Size} size */
  #place(box, title, { width, height }) {
    const button = this.#buttons.get(box) ?? this.#makeButton(box);
    const share = (part, whole) => `${(100 * part) / whole}%`;
    button.disabled = this.#disabled;
    button.style.left = share(box.x1, width);
    button.style.top = share(box.y1, height);
    button.style.width = share(box.x2 - box.x1, width);
    button.style.height = share(box.y2 - box.y1, height);
    const colour = this.#handlers.colourOf(box.label);
    button.style.setProperty("--class-colour", colour);
    button.style.setProperty("--class-ink", inkOn(colour));
    button.classList.toggle("low", box.y1 < NAME_ROOM * height);
    button.classList.toggle("left", box.x1 + box.x2 < width);
    button.setAttribute("aria-pressed", String(box === this.#selected));
    setText(button.firstElementChild, box.label || "?");
    const [x, y, w, h] = [box.x1, box.y1, box.x2 - box.x1, box.y2 - box.y1].map(Math.round);
    const name = isolate(box.label) || "without a class";
    const where = `${x} from the left, ${y} from the top, ${w} wide, ${h} high`;
    button.setAttribute("aria-label", `${title}, ${name}: ${where}`);
  }

  // ------------------------------------------------------------------------ pointer

  /** Pixels of the picture per pixel of the screen. */
  #scale() {
    return this.#canvas.width / (this.#surface.clientWidth || 1);
  }

  /** @param {PointerEvent} event @returns {number[]} In pixels of the picture. */
  #placeOf(event) {
    const { left, top } = this.#canvas.getBoundingClientRect();
    return [event.clientX - left, event.clientY - top].map((side) => side * this.#scale());
  }

  /** @param {PointerEvent} event */
  #edgesOf(event) {
    const [x, y] = this.#placeOf(event);
    const reach = this.#scale() * (event.pointerType === "touch" ? TOUCH_REACH_PX : REACH_PX);
    return this.#selected && edgesAt(this.#selected, x, y, reach);
  }

  /** @param {PointerEvent} event */
  #press(event) {
    if (!this.#frame || this.#disabled || event.button !== 0 || this.#drag) return;
    event.preventDefault(); // buttons would take the focus, and pictures be dragged away
    this.#surface.setPointerCapture(event.pointerId);
    const edges = this.#edgesOf(event);
    const before = edges && /** @type {Box} */ ({ ...this.#selected });
    this.#drag = { from: this.#placeOf(event), edges, before, drawn: null };
  }

  /** @param {PointerEvent} event */
  #move(event) {
    const drag = this.#drag;
    if (!drag || !this.#frame) {
      this.#surface.style.cursor = this.#disabled ? "" : cursorFor(this.#edgesOf(event));
      return;
    }
    const to = this.#placeOf(event);
    const [dx, dy] = to.map((place, axis) => place - drag.from[axis]);
    if (drag.edges && drag.before && this.#selected) {
      const box = dragged(drag.before, drag.edges, dx, dy, this.#frame.bitmap);
      Object.assign(this.#selected, box);
    } else if (drag.drawn) {
      Object.assign(drag.drawn, boxBetween(drag.from, to, this.#frame.bitmap));
    } else if (Math.hypot(dx, dy) > CLICK_PX * this.#scale()) {
      const box = boxBetween(drag.from, to, this.#frame.bitmap);
      drag.drawn = this.#add({ ...box, label: this.#handlers.newLabel() });
    }
    this.draw();
  }

  /** @param {PointerEvent} event */
  #release(event) {
    const drag = this.#drag;
    this.#drag = null;
    if (!drag || !this.#frame) return;
    const [x, y] = this.#placeOf(event);
    const way = Math.hypot(x - drag.from[0], y - drag.from[1]);
    if (drag.drawn) {
      const { x1, y1, x2, y2 } = drag.drawn;
      if (Math.min(x2 - x1, y2 - y1) < LEAST_SIDE) this.#drop(drag.drawn);
      else this.#finish();
    } else if (way <= CLICK_PX * this.#scale()) {
      if (this.#selected && drag.before) Object.assign(this.#selected, drag.before);
      this.select(boxAt(this.#frame.boxes, x, y) ?? null);
      this.focus();
    } else {
      this.#handlers.onChange();
      this.focus();
    }
  }

  /** The browser took the pointer away: all is as before. */
  #cancel() {
    if (this.#drag?.drawn) this.#drop(this.#drag.drawn);
    else if (this.#drag?.before && this.#selected) {
      Object.assign(this.#selected, this.#drag.before);
    }
    this.#drag = null;
    this.draw();
  }

  /** @param {Box} box */
  #add(box) {
    this.#frame?.boxes.push(box);
    this.select(box);
    return box;
  }

  /** @param {Box} box */
  #drop(box) {
    const boxes = this.#frame?.boxes ?? [];
    boxes.splice(boxes.indexOf(box), 1);
    this.select(null);
  }

  /** A new box has its size. */
  #finish() {
    this.focus();
    this.#handlers.onChange();
    this.#handlers.onDrawn(/** @type {Box} */ (this.#selected));
  }

  // ------------------------------------------------------------------------ keys

  /** @param {KeyboardEvent} event */
  #key(event) {
    const box = this.#selected;
    if (!box || !this.#frame || this.#disabled || event.ctrlKey || event.metaKey || event.altKey)
      return;
    if (event.key === "Delete" || event.key === "Backspace") {
      this.remove();
    } else if (event.key === "Escape") {
      this.#surface.focus();
      this.select(null);
    } else if (event.key in ARROWS) {
      const { width, height } = this.#frame.bitmap;
      const step = event.repeat ? Math.max(1, Math.round(FAST * Math.max(width, height))) : 1;
      const [dx, dy] = ARROWS[event.key].map((way) => way * step);
      const edges = event.shiftKey ? LOWER_RIGHT : WHOLE;
      Object.assign(box, dragged(box, edges, dx, dy, this.#frame.bitmap));
      this.draw();
      this.#handlers.onChange();
    } else {
      return;
    }
    event.preventDefault();
  }
}
