/** Models that take long, or come to no end: Stop ends them, and no other one waits for them. */
import { detector, endlessDetector } from "../onnx.js";
import {
  byId,
  check,
  choose,
  demo,
  file,
  picture,
  ready,
  scenarios,
  screen,
  sleep,
  status,
  until,
} from "./helpers.js";

const stop = () => /** @type {HTMLButtonElement} */ (byId("stop"));
const listed = () => byId("detections").children.length;
const openModel = (bytes, name) => choose("model-file", file(bytes, name));

async function stopWhenSlow() {
  await until(
    () => !stop().disabled && byId("status").textContent.includes("Stop ends it"),
    "Stop",
  );
  stop().click();
}

scenarios({
  async "a load is stopped at once while its file is read, and the model before stays"() {
    const vast = { name: "vast.onnx", size: 9e8, arrayBuffer: () => new Promise(() => {}) };
    demo().loadModel(vast);
    await until(() => status().startsWith("Loading vast.onnx"), "the load");
    check(!stop().disabled, "Stop is alive");
    stop().click();
    check(status() === "Stopped loading vast.onnx.", "it says so at once");
    await sleep(1000);
    check(demo().ready && !demo().screen && stop().disabled, "the page is ready");
    check(demo().info.modelName === "built-in model", "the model before is there");
  },

  async "a load is stopped at once while its model runs, and the model before comes back"() {
    openModel(endlessDetector(true), "endless.onnx");
    await until(() => byId("progress-text").textContent.startsWith("First run"), "the first run");
    await sleep(50);
    check(
      !stop().disabled && !status().includes("Stop ends it"),
      "Stop is alive before it is slow",
    );
    stop().click();
    check(status() === "Stopped loading endless.onnx.", "it says so at once");
    await ready("built-in model");
  },

  async "a model to compare with that comes to no end is stopped"() {
    choose("compare-file", file(endlessDetector(true), "endless.onnx"));
    await until(() => !byId("compare-end").hidden, "the button that ends it");
    await sleep(500);
    const said = []; // the picture is looked at again at once, which says something else
    const observer = new MutationObserver(() => said.push(status()));
    observer.observe(byId("status"), { childList: true, characterData: true, subtree: true });
    byId("compare-end").click();
    await until(() => said.includes("Stopped loading endless.onnx."), "the end");
    observer.disconnect();
    const { last } = demo();
    choose("image-file", await picture("black", "alone.png"));
    await until(() => demo().last !== last && demo().last.title === "alone.png", "a detection");
  },

  async "another model does not wait for one that comes to no end"() {
    openModel(endlessDetector(true), "endless.onnx");
    await until(() => !stop().disabled, "the first run");
    openModel(detector(), "quick.onnx");
    await ready("quick.onnx");
  },

  async "a detection that comes to no end is stopped; the model can be loaded again"() {
    openModel(endlessDetector(), "bright.onnx");
    await ready("bright.onnx");
    await until(() => listed() > 0, "its detections");
    choose("image-file", await picture("white", "bright.png"));
    await stopWhenSlow();
    check((await screen("stopped")).includes("Load it again"), "it can be loaded again");
    check(listed() === 0, "those of the picture before are not listed any more");
    check(/** @type {HTMLButtonElement} */ (byId("save-json")).disabled, "nor can they be saved");
    choose("image-file", await picture("black", "dark.png")); // is not detected in before
    byId("message").querySelector("button").click();
    await until(() => demo().ready && demo().last.title === "dark.png", "the detection");
  },

  async "nor does another model wait for such a detection"() {
    choose("image-file", await picture("white", "bright.png"));
    openModel(detector(), "quick.onnx");
    await ready("quick.onnx");
    await until(() => demo().last.title === "bright.png", "the detection by the other model");
  },
});
