/**
 * The message screens: what happened, what to do, and buttons to go on.
 *
 * A screen covers the stage only; every other control of the page stays usable.
 */
/** To be given in the repository's folder. */
export const BUILD_COMMAND =
  "cd examples/onnx/onnx-yolo-demo && ../../../.venv/bin/python -m tools.build_demo MODEL.onnx";
const PICTURE = ["Use a picture instead", "open-picture"];
const SAMPLE = ["Show a sample", "show-sample"];

export const SCREENS = {
  "no-assets": {
    title: "The page has to be built first",
    happened: "A part of this page is missing, or damaged.",
    todo:
      "In the folder that holds the whole repository, after bash setup.sh, build the page from an " +
      "exported model (bash train.sh makes one and builds the page, too), and open the page that it " +
      "names:",
    command: BUILD_COMMAND,
    actions: [["Reload", "reload"]],
  },
  "no-camera": {
    title: "No camera",
    happened: "No camera is connected to this device.",
    todo:
      "Connect a camera, or end the program that uses it, and try again. " +
      "Pictures and videos work without one.",
    actions: [["Try again", "retry-camera"], PICTURE, SAMPLE],
  },
  "camera-refused": {
    title: "The camera is not allowed",
    happened: "The browser did not allow the camera.",
    todo:
      "Allow it by the camera sign in the address bar or in the browser's settings, " +
      "and try again. No picture leaves this device.",
    actions: [["Try again", "retry-camera"], PICTURE, SAMPLE],
  },
  "no-screen": {
    title: "No screen is shared",
    happened: "None was chosen, or the system does not allow it.",
    todo:
      "Choose a screen, a window or a tab in the browser's list; some systems allow it first in " +
      "their settings. No picture leaves this device.",
    actions: [["Try again", "retry-screen"], PICTURE, SAMPLE],
  },
  "no-webgpu": {
    title: "WebGPU is not available",
    happened: "This browser or this device offers no WebGPU.",
    todo: "WebAssembly gives the same detections on every device, only slower.",
    actions: [
      ["Use WebAssembly", "use-wasm"],
      ["Back", "dismiss"],
    ],
  },
  "model-broken": {
    title: "This file is not a model",
    happened: "The file is no ONNX model, or a part of it is missing.",
    todo: "Choose an .onnx file, for example one exported by this example's train.sh.",
    actions: [
      ["Choose another", "open-model"],
      ["Use the built-in model", "builtin-model"],
    ],
  },
  "model-refused": {
    title: "This model does not run here",
    happened: "The model cannot be computed in this browser.",
    todo: "Mend what is said here, or choose another .onnx file.",
    actions: [
      ["Choose another", "open-model"],
      ["Use the built-in model", "builtin-model"],
    ],
  },
  "model-shape": {
    title: "This model does not fit the page",
    happened: "The model's input or output has another shape.",
    todo:
      "The page takes detectors with one square picture as input, (1, 3, S, S), and the " +
      "output (1, 4 + classes, boxes), the same transposed, or finished boxes, (1, boxes, 6).",
    actions: [
      ["Choose another", "open-model"],
      ["Use the built-in model", "builtin-model"],
    ],
  },
  "file-broken": {
    title: "This file does not open",
    happened: "The browser can not read the file.",
    todo: "Choose a picture (JPEG, PNG, WebP), a video (MP4, WebM) or an .onnx model.",
    actions: [PICTURE, SAMPLE],
  },
  "teach-failed": {
    title: "The teaching failed",
    happened: "The model is as it was before; your frames and boxes are still there.",
    todo: "Teach again, with fewer frames if memory was short, or reload the page after saving them.",
    actions: [
      ["Teach again", "teach"],
      ["Back", "dismiss"],
    ],
  },
  stopped: {
    title: "Stopped",
    happened: "You have ended what took too long.",
    todo: "Load the model again, or take one that is faster: smaller, or for smaller pictures.",
    actions: [
      ["Load it again", "reload-model"],
      ["Choose another", "open-model"],
      ["Use the built-in model", "builtin-model"],
    ],
  },
  "device-lost": {
    title: "The GPU went away",
    happened: "The browser lost its connection to the GPU.",
    todo: "The model is loaded again; this takes a moment.",
    actions: [],
  },
  "no-script-support": {
    title: "This browser is too old",
    happened: "The page needs parts that this browser lacks.",
    todo: "Open the page in a current Chrome, Edge, Firefox or Safari.",
    actions: [["Reload", "reload"]],
  },
  runtime: {
    title: "The detector stopped",
    happened: "The runtime that computes the model reported an error.",
    todo: "Try again. If that does not help, choose WebAssembly as back end, or reload the page.",
    actions: [
      ["Try again", "reload-model"],
      ["Use WebAssembly", "use-wasm"],
      ["Reload the page", "reload"],
    ],
  },
};

function add(parent, tag, className, text) {
  const node = document.createElement(tag);
  if (className) node.className = className;
  node.textContent = text;
  parent.append(node);
  return node;
}

/**
 * Write a message over the stage.
 * @param {HTMLElement} section
 * @param {string} id Of the screen.
 * @param {{happened?: string, detail?: string}} texts `happened` replaces the general text;
 *   `detail` is the exact message of the failure.
 * @param {(action: string) => void} onAction Called with the action of a pressed button.
 */
export function writeScreen(section, id, { happened, detail }, onAction) {
  const screen = SCREENS[id];
  section.dataset.screen = id;
  section.replaceChildren();
  const body = add(section, "div", "message-body", "");
  add(body, "h2", "", screen.title);
  add(body, "p", "", happened || screen.happened);
  if (detail) add(body, "p", "detail", detail);
  add(body, "p", "", screen.todo);
  if (screen.command) add(body, "code", "command", screen.command);
  const row = add(body, "div", "message-actions", "");
  screen.actions.forEach(([text, action], index) => {
    const button = add(row, "button", index === 0 ? "button primary" : "button", text);
    button.type = "button";
    button.dataset.action = action;
    button.addEventListener("click", () => onAction(action));
  });
  section.hidden = false;
  section.scrollIntoView({ block: "nearest" });
}
