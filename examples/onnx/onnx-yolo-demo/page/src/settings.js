"use strict";

/**
 * The settings of a detection: two thresholds and the classes that count.
 *
 * The page's controls hold the values, so nothing is kept twice; a new model brings its own
 * classes and thresholds.
 */
// biome-ignore lint/correctness/noUnusedVariables: the next scripts use it.
const demoSettings = (() => {
  const { byId } = demoEnvironment;
  const THRESHOLDS = ["confidence", "iou"];
  const state = { onChange: () => {} };
  const classFilter = new demoView.ClassFilter(byId("class-filter"), byId("class-search"), () =>
    state.onChange(),
  );

  /** @returns {{confidence: number, iou: number, enabled: number[]|null}} See `Detector.detect`. */
  function current() {
    return {
      confidence: Number(byId("confidence").value),
      iou: Number(byId("iou").value),
      enabled: classFilter.enabled(),
    };
  }

  function showThreshold(name) {
    demoView.setText(byId(`${name}-value`), Number(byId(name).value).toFixed(2));
  }

  /** @param {{confidence: number, iou: number}} info The model's own. */
  function setThresholds(info) {
    for (const name of THRESHOLDS) {
      byId(name).value = String(info[name]);
      showThreshold(name);
    }
  }

  /** @param {string[]} names Of the model's classes; all are switched on. */
  function setClasses(names) {
    classFilter.setNames(names);
  }

  /** @param {() => void} onChange Called when the user changed a setting. */
  function wire(onChange) {
    state.onChange = onChange;
    for (const name of THRESHOLDS) {
      byId(name).addEventListener("input", () => {
        showThreshold(name);
        onChange();
      });
    }
    for (const [id, on] of [
      ["classes-all", true],
      ["classes-none", false],
    ]) {
      byId(id).addEventListener("click", () => {
        classFilter.setAll(on);
        onChange();
      });
    }
  }

  return { current, setThresholds, setClasses, wire };
})();
