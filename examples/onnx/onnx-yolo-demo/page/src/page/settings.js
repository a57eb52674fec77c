/**
 * The settings of a detection: thresholds and the classes that count.
 *
 * The page's controls hold the values, so nothing is kept twice; a new model brings its own
 * classes and thresholds.
 */
import { byId } from "./environment.js";
import { ClassFilter } from "./lists.js";
import { setText } from "./text.js";
import { moved } from "./thresholds.js";

const SLIDERS = ["confidence", "iou"];
let changed = () => {};
const classFilter = new ClassFilter(byId("class-filter"), byId("class-search"), () => changed());

/** What the scores of each class have to exceed by the model, and where the slider is then. */
let own = { thresholds: [0.25], at: 0.25 };

const valueAt = (name) => Number(byId(name).value);

/** @returns {number[]} What the scores of each class have to exceed. */
const presentThresholds = () => moved(own.thresholds, own.at, valueAt("confidence"));

/** @returns {{confidence: number[], iou: number, enabled: number[]|null}} See `Detector.detect`. */
export function currentSettings() {
  const confidence = presentThresholds();
  return { confidence, iou: valueAt("iou"), enabled: classFilter.enabled() };
}

/** @returns {{confidence: number, iou: number}} Where the sliders are. */
export function sliderValues() {
  return { confidence: valueAt("confidence"), iou: valueAt("iou") };
}

/** Write next to the sliders what they mean; each class has its own number where they differ. */
function showThresholds() {
  const digits = (value) => value.toFixed(2);
  const thresholds = presentThresholds();
  const [least, most] = [Math.min(...thresholds), Math.max(...thresholds)].map(digits);
  setText(byId("confidence-value"), least === most ? least : `${least}–${most}`);
  setText(byId("iou-value"), digits(valueAt("iou")));
  classFilter.showThresholds(least === most ? null : thresholds.map(digits));
}

/** @param {{confidence?: number, iou?: number}} values Move the sliders that they are for. */
export function moveSliders(values) {
  for (const name of SLIDERS) byId(name).value = String(values[name] ?? valueAt(name));
  showThresholds();
}

/** @param {{thresholds: number[], iou: number}} info The model's own. */
export function setThresholds({ thresholds, iou }) {
  moveSliders({ confidence: Math.min(...thresholds), iou });
  own = { thresholds, at: valueAt("confidence") }; // it has steps of its own
  showThresholds();
}

/** @param {string[]} names Of the model's classes; all are switched on. */
export function setClasses(names) {
  classFilter.setNames(names);
  showThresholds();
}

/** @param {string[]} names Of the classes that shall not count; all others are switched on. */
export function setClassesOff(names) {
  classFilter.setOff(names);
}

/** @param {() => void} onChange Called when the user changed a setting. */
export function wireSettings(onChange) {
  changed = onChange;
  for (const name of SLIDERS) {
    byId(name).addEventListener("input", () => {
      showThresholds();
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
