/**
 * The list of detections, and the checkboxes of the classes.
 *
 * @import {NamedDetection} from "./drawing.js"
 */
import { chooseColour, classColour, resetColours } from "./colours.js";
import { isolate, percent, setText } from "./text.js";

const MAX_ROWS = 50;
const MANY_CLASSES = 12; // with more there is a field to search in

/** An element with a class and children. */
function make(tag, className, ...children) {
  const element = document.createElement(tag);
  element.className = className;
  element.append(...children);
  return element;
}

/** The list of detections; its rows are made once and used again. */
export class DetectionList {
  #list;
  #count;
  #empty;
  /** @type {{item: HTMLElement, name: HTMLElement, score: HTMLElement}[]} */
  #rows = [];

  /**
   * @param {HTMLElement} list
   * @param {HTMLElement} count
   * @param {HTMLElement} empty Shown when there are no rows, and to tell of rows left out.
   */
  constructor(list, count, empty) {
    this.#list = list;
    // It scrolls: by keys, too.
    /** @type {HTMLElement} */ (list.parentElement).tabIndex = 0;
    this.#count = count;
    this.#empty = empty;
  }

  /** @param {NamedDetection[]|null} known Best first; null if the picture has not been seen yet. */
  show(known) {
    const detections = known ?? [];
    const shown = detections.slice(0, MAX_ROWS);
    for (const [index, detection] of shown.entries()) this.#fill(index, detection);
    for (const row of this.#rows.slice(shown.length)) row.item.remove();
    setText(this.#count, known ? String(known.length) : "");
    const left = detections.length - shown.length;
    this.#empty.hidden = shown.length > 0 && left === 0;
    const none = known ? "Nothing found." : "The model has not seen this picture.";
    setText(this.#empty, left ? `and ${left} more` : none);
  }

  #fill(index, { name, classId, score }) {
    this.#rows[index] ??= this.#makeRow();
    const row = this.#rows[index];
    if (!row.item.isConnected) this.#list.append(row.item);
    setText(row.name, name);
    setText(row.score, percent(score));
    row.item.style.setProperty("--share", score.toFixed(3));
    row.item.style.setProperty("--class-colour", classColour(name, classId));
  }

  #makeRow() {
    const name = make("span", "name");
    name.dir = "auto";
    const score = make("span", "score");
    const item = make("li", "", make("span", "swatch"), name, make("span", "bar"), score);
    return { item, name, score };
  }
}

/** Checkboxes, one for each class of the model, and its colour. */
export class ClassFilter {
  #box;
  #search;
  /** @type {HTMLInputElement[]} */
  #inputs = [];
  /** @type {HTMLInputElement[]} */
  #colours = [];
  /** @type {HTMLElement[]} */
  #thresholds = [];
  /** @type {string[]} */
  #names = [];

  /**
   * @param {HTMLElement} box
   * @param {HTMLInputElement} search Shown when there are many classes.
   * @param {() => void} onChange
   */
  constructor(box, search, onChange) {
    this.#box = box;
    this.#search = search;
    box.addEventListener("change", onChange);
    search.addEventListener("input", () => this.#find());
  }

  /** @param {string[]} names Of the model's classes; all are switched on. */
  setNames(names) {
    this.#search.hidden = names.length <= MANY_CLASSES;
    this.#search.value = "";
    this.#inputs = [];
    this.#colours = [];
    this.#thresholds = [];
    this.#names = names;
    this.#box.replaceChildren(...names.map((name, classId) => this.#row(name, classId)));
  }

  #row(name, classId) {
    const input = document.createElement("input");
    input.type = "checkbox";
    input.checked = true;
    input.dataset.class = String(classId);
    this.#inputs.push(input);
    const text = make("span", "", name);
    text.dir = "auto";
    const threshold = make("span", "threshold");
    this.#thresholds.push(threshold);
    const label = make("label", "check", input, text, threshold);
    return make("div", "class-row", label, this.#colourInput(name, classId));
  }

  #colourInput(name, classId) {
    const colour = document.createElement("input");
    colour.type = "color";
    colour.value = classColour(name, classId);
    colour.setAttribute("aria-label", `Colour of ${isolate(name)}`);
    colour.addEventListener("input", () => chooseColour(name, colour.value));
    this.#colours.push(colour);
    return colour;
  }

  /** Give all classes the page's colours again. */
  resetColours() {
    resetColours();
    for (const [classId, colour] of this.#colours.entries()) {
      colour.value = classColour(this.#names[classId], classId);
    }
  }

  /** @param {string[]|null} texts What the scores of each class have to exceed; null hides it. */
  showThresholds(texts) {
    for (const [classId, threshold] of this.#thresholds.entries()) {
      setText(threshold, texts?.[classId] ?? "");
    }
  }

  #find() {
    const wanted = this.#search.value.trim().toLowerCase();
    for (const row of /** @type {Iterable<HTMLElement>} */ (this.#box.children)) {
      row.hidden = !row.textContent.toLowerCase().includes(wanted);
    }
  }

  /** @param {boolean} on Switch all classes on or off. */
  setAll(on) {
    for (const input of this.#inputs) input.checked = on;
  }

  /** @param {string[]} names Switch these classes off and all others on. */
  setOff(names) {
    for (const [classId, input] of this.#inputs.entries()) {
      input.checked = !names.includes(this.#names[classId]);
    }
  }

  /** @returns {number[]|null} Ids of the classes that are on; null if all are. */
  enabled() {
    if (this.#inputs.every((input) => input.checked)) return null;
    return this.#inputs.flatMap((input, classId) => (input.checked ? [classId] : []));
  }
}
