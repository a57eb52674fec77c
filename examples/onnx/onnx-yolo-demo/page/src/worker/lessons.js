/** Lessons in the worker: what gives them comes with the first message of a lesson; see teaching.js. */
import * as ort from "onnxruntime-web/webgpu";
import * as failures from "./failure.js";
import * as letterbox from "./letterbox.js";
import * as onnxRead from "./onnx_read.js";
import * as onnxWrite from "./onnx_write.js";
import * as pixels from "./pixels.js";

/** @type {Record<string, object>} By the names that src/teach imports them by. */
const SHARED = {
  "onnxruntime-web/webgpu": ort,
  "../worker/failure.js": failures,
  "../worker/letterbox.js": letterbox,
  "../worker/onnx_read.js": onnxRead,
  "../worker/onnx_write.js": onnxWrite,
  "../worker/pixels.js": pixels,
};

/** @type {Record<string, (message: object) => Promise<object>>|null} */
let tasks = null;

/** Run the script that the build makes of teaching.js. @param {string} text */
function load(text) {
  const module = { exports: /** @type {any} */ ({}) };
  Object.assign(self, { demoTeach: (program) => program((name) => SHARED[name], module) });
  const url = URL.createObjectURL(new Blob([text], { type: "text/javascript" }));
  /** @type {any} */ (self).importScripts(url);
  URL.revokeObjectURL(url);
  return module.exports.lessonTasks;
}

/** @param {{type: string, program?: string}} message */
async function teach(message) {
  if (message.program) tasks ??= load(message.program);
  if (!tasks) throw failures.failure("cancelled", "the lesson was ended");
  return tasks[message.type](message);
}

export const lessonTasks = { "teach-begin": teach, "teach-step": teach, "teach-end": teach };
