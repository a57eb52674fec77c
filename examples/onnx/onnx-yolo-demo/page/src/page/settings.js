/**
 * The settings of a detection: two thresholds and the classes that count.
 *
 * The page's controls hold the values, so nothing is kept twice; a new model brings its own
 * classes and thresholds.
 */
import { byId } from "./environment.js";
import { ClassFilter } from "./lists.js";
import { setText } from "./text.js";

const THRESHOLDS = ["confidence", "iou"];
let changed = () => {};
const classFilter = new ClassFilter(byId("class-filter"), byId("class-search"), () => changed());

/** @returns {{confidence: number, iou: number, enabled: number[]|null}} See `Detector.detect`. */
export function currentSettings() {
  return {
    confidence: Number(byId("confidence").value),
    iou: Number(byId("iou").value),
    enabled: classFilter.enabled(),
  };
}

function showThreshold(name) {
  setText(byId(`${name}-value`), Number(byId(name).value).toFixed(2));
}

/** @param {{confidence: number, iou: number}} info The model's own. */
export function setThresholds(info) {
  for (const name of THRESHOLDS) {
    byId(name).value = String(info[name]);
    showThreshold(name);
  }
}

/** @param {string[]} names Of the model's classes; all are switched on. */
export function setClasses(names) {
  classFilter.setNames(names);
}

/** @param {string[]} names Of the classes that shall not count; all others are switched on. */
export function setClassesOff(names) {
  classFilter.setOff(names);
}

/** @param {() => void} onChange Called when the user changed a setting. */
export function wireSettings(onChange) {
  changed = onChange;
  for (const name of THRESHOLDS) {
    byId(name).addEventListener("input", () => {
      showThreshold(name);
      onChange();
    });
  }
  const all = (on) => () => {
    classFilter.setAll(on);
    onChange();
  };
  byId("class-filter").addEventListener("input", ({ target }) => {
    const { type } = /** @type {HTMLInputElement} */ (target);
    if (type === "color") byId("colours-reset", "button").hidden = false;
  });
  byId("colours-reset").addEventListener("click", () => {
    classFilter.resetColours();
    byId("colours-reset", "button").hidden = true;
    byId("classes-all").focus(); // the button with the keyboard's place is gone
    onChange();
  });
  byId("classes-all").addEventListener("click", all(true));
  byId("classes-none").addEventListener("click", all(false));
}
