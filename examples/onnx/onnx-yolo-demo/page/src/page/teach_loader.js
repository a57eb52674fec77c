/**
 * The way to teaching: its panel is a program of its own, which is loaded when it is first used.
 *
 * The build makes it of src/teach, as a script that calls `demoTeach` (tools/build_demo.py). What it
 * imports from other folders it gets from here, so that the state of those modules is there once.
 */
import * as matching from "../count/matching.js";
import * as crc32 from "../worker/crc32.js";
import * as failures from "../worker/failure.js";
import * as onnxRead from "../worker/onnx_read.js";
import * as onnxWrite from "../worker/onnx_write.js";
import * as assets from "./assets.js";
import * as colours from "./colours.js";
import * as environment from "./environment.js";
import * as loading from "./loading.js";
import * as loop from "./loop.js";
import * as messages from "./messages.js";
import * as model from "./model.js";
import * as saving from "./saving.js";
import * as settings from "./settings.js";
import * as sources from "./sources.js";
import * as stage from "./stage.js";
import * as status from "./status.js";
import * as text from "./text.js";
import * as thumbnail from "./thumbnail.js";

const { byId } = environment;
const { activity, attempt, demo } = status;

/** @typedef {typeof import("../teach/panel.js")} Panel */

/** @type {Record<string, object>} By the names that src/teach imports them by. */
const SHARED = {
  "../count/matching.js": matching,
  "../worker/crc32.js": crc32,
  "../worker/failure.js": failures,
  "../worker/onnx_read.js": onnxRead,
  "../worker/onnx_write.js": onnxWrite,
  "../page/assets.js": assets,
  "../page/colours.js": colours,
  "../page/environment.js": environment,
  "../page/loading.js": loading,
  "../page/loop.js": loop,
  "../page/messages.js": messages,
  "../page/model.js": model,
  "../page/saving.js": saving,
  "../page/settings.js": settings,
  "../page/sources.js": sources,
  "../page/stage.js": stage,
  "../page/status.js": status,
  "../page/text.js": text,
  "../page/thumbnail.js": thumbnail,
};

/** @type {((require: (name: string) => object, module: {exports: Panel}) => void)|null} */
let program = null;
/** @type {Panel|null} */
let panel = null;

Object.assign(window, {
  demoTeach: (/** @type {NonNullable<typeof program>} */ given) => {
    program = given;
  },
});

/**
 * Load the panel, unless it is there.
 * @returns {Promise<Panel>}
 * @throws {Error} `.code` "assets-missing": its script is not next to the page, or damaged.
 */
async function openPanel() {
  const address = byId("teach-program", "script")?.getAttribute("src") ?? "";
  if (!program) await assets.loadScript(address);
  if (!program) throw failures.failure("assets-missing", `${address} is damaged`);
  if (!panel) {
    const module = { exports: /** @type {Panel} */ ({}) };
    program((name) => SHARED[name], module);
    panel = module.exports;
    panel.wirePanel();
    showTeaching();
  }
  return panel;
}

/** For scripts: what teaches the model. */
export const openTeacher = async () => (await openPanel()).teacher;

/** Take what the stage shows. */
export async function takeFrame() {
  const shown = stage.onStage();
  if (!shown || activity.teaching) return;
  // The stage closes its own with the next frame.
  const bitmap = await createImageBitmap(shown.bitmap);
  await (await openPanel()).addFrame(bitmap, shown.title);
}

/** Take picture files. @param {Iterable<File>|undefined} files */
export const addFiles = async (files) => (await openPanel()).addFiles(files);

/** Have the model learn the frames. */
export const startTeaching = async () => (await openPanel()).startTeaching();

/** Have the teaching end after the present step. */
export const stopTeaching = () => panel?.stopTeaching();

/** Whether a dropped file was meant for teaching. @param {EventTarget|null} target */
export function isInPanel(target) {
  return byId("teach").contains(/** @type {Node|null} */ (target));
}

/** Bring the panel's parts to life or make them dead, as the page's state is. */
export function showTeaching() {
  const rests = activity.teaching || Boolean(panel?.busy);
  const source = loop.openSource();
  byId("teach-take").disabled = rests || !(stage.onStage() || source);
  byId("teach-take-live").hidden = rests || !source || demo.screen !== null;
  byId("teach-files").disabled = rests || !activity.usable;
  panel?.showPanel();
}

/** Connect what opens the panel. */
export function wireTeaching() {
  for (const id of ["teach-take", "teach-take-live"]) {
    byId(id).addEventListener("click", () => attempt(takeFrame));
  }
  byId("teach-files").addEventListener("change", () => {
    const files = [...(byId("teach-files").files ?? [])];
    attempt(() => addFiles(files));
    byId("teach-files").value = "";
  });
}
