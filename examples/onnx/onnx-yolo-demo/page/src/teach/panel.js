/**
 * The panel for teaching: frames are taken, boxes drawn and named, the model learns, all is saved.
 *
 * While the model learns, the camera or video rests, and so does what would need the detector.
 *
 * @import {Outcome, Step} from "./teacher.js"
 * @import {TeachFrame} from "./data.js"
 */

import { overlapOf } from "../count/matching.js";
import { classColour } from "../page/colours.js";
import { byId } from "../page/environment.js";
import { afterLoad } from "../page/loading.js";
import { halt } from "../page/loop.js";
import { SCREENS } from "../page/messages.js";
import { alone, detect } from "../page/model.js";
import { download, savedText } from "../page/saving.js";
import { currentSettings } from "../page/settings.js";
import { decodePicture } from "../page/sources.js";
import { activity, attempt, demo, hideScreen, say, settle, settleReady } from "../page/status.js";
import { isolate, plural, setText } from "../page/text.js";
import { drawSmall } from "../page/thumbnail.js";
import { failure } from "../worker/failure.js";
import { BoxEditor } from "./boxes.js";
import { dataSet, labelsOf, makeFrame } from "./data.js";
import { teacher } from "./teacher.js";
import { zip } from "./zip.js";

export { teacher };

const THUMBNAIL = { width: 160, height: 120 };
const SAME_BOX = 0.6; // intersection over union from which on a found box is there already
const CURVE_POINTS = 200;
const MAX_STEPS = 5000;

/** @type {TeachFrame[]} */
const frames = [];
/** @type {TeachFrame|null} The one in the editor. */
let edited = null;
let label = ""; // of the next box
export let busy = false; // files are being read, or saved

const editor = new BoxEditor(byId("teach-surface"), {
  onChange: noteChange,
  onSelect: showSelection,
  onDrawn: (box) => box.label || byId("teach-label").focus(),
  newLabel: () => label,
  colourOf: (name) => {
    const known = knownLabels();
    return classColour(name, known.includes(name) ? known.indexOf(name) : known.length);
  },
});

/** Say something in the panel. */
const tell = (text) => setText(byId("teach-status"), text);

/** The model's classes, then those that only frames have. */
const knownLabels = () => [
  ...new Set([...(demo.info?.names ?? []), ...labelsOf(frames)].filter(Boolean)),
];

// ------------------------------------------------------------------------ nothing is lost

function askBeforeLeaving(event) {
  event.preventDefault();
}

/** Have the browser ask before frames get lost, and only then. @param {boolean} unsaved */
function guardFrames(unsaved) {
  if (unsaved) window.addEventListener("beforeunload", askBeforeLeaving);
  else window.removeEventListener("beforeunload", askBeforeLeaving);
}

function noteChange() {
  guardFrames(frames.length > 0);
  showFrames();
}

// ------------------------------------------------------------------------ frames

/** Take a picture of the stage. @param {ImageBitmap} bitmap It is taken over. @param {string} title */
export async function addFrame(bitmap, title) {
  keepFrame(await makeFrame(bitmap, title));
  const text = `Took frame ${frames.length} for teaching.`;
  tell(text);
  if (!activity.running) say(text);
}

/** Take picture files. @param {Iterable<File>|undefined} given */
export async function addFiles(given) {
  if (!activity.usable || activity.teaching || busy) return;
  const files = [...(given ?? [])];
  const failed = [];
  await whileBusy(async () => {
    for (const [index, file] of files.entries()) {
      tell(`Opening picture ${index + 1} of ${files.length}…`);
      try {
        const { bitmap } = await decodePicture(file);
        keepFrame(await makeFrame(bitmap, file.name, file));
      } catch (error) {
        if (/** @type {{code?: string}} */ (error).code !== "file-broken") throw error;
        failed.push(isolate(file.name));
      }
    }
  });
  const taken = `Took ${plural(files.length - failed.length, "picture")}.`;
  tell(failed.length ? `${taken} Not opened: ${failed.join(", ")}.` : taken);
}

/** @param {TeachFrame} frame */
function keepFrame(frame) {
  frames.push(frame);
  byId("teach-frames").append(makeThumbnail(frame));
  // Whoever draws boxes is not disturbed by new frames.
  if (!edited?.boxes.length || !editor.selected) edit(frame);
  noteChange();
  settle();
}

/** @param {TeachFrame|null} frame */
function edit(frame) {
  edited = frame;
  editor.show(frame);
  showFrames();
}

/** @param {TeachFrame} frame */
function removeFrame(frame) {
  const index = frames.indexOf(frame);
  frames.splice(index, 1);
  byId("teach-frames").children[index].remove();
  const next = frames[Math.min(index, frames.length - 1)] ?? null;
  if (frame === edited) edit(next);
  frame.bitmap.close();
  noteChange();
  settle();
  tell(`Deleted the frame; ${plural(frames.length, "frame")} left.`);
  const item = next && byId("teach-frames").children[frames.indexOf(next)];
  const neighbour = /** @type {HTMLElement|null} */ (item?.querySelector(".teach-frame") ?? null);
  (neighbour ?? byId("teach-take")).focus();
}

/** The list's entry of a frame: a button that opens it, and one that deletes it. */
function makeThumbnail(frame) {
  const canvas = document.createElement("canvas");
  Object.assign(canvas, THUMBNAIL);
  drawSmall(canvas, frame.bitmap);
  canvas.setAttribute("aria-hidden", "true");
  const open = document.createElement("button");
  open.className = "teach-frame";
  open.title = frame.title;
  open.append(canvas, document.createElement("span"));
  open.addEventListener("click", () => edit(frame));
  const remove = document.createElement("button");
  remove.className = "teach-delete";
  remove.textContent = "×";
  remove.addEventListener("click", () => removeFrame(frame));
  open.type = remove.type = "button";
  const item = document.createElement("li");
  item.append(open, remove);
  return item;
}

/** Write what the thumbnails say, and show what there is to work on. */
function showFrames() {
  for (const [index, frame] of frames.entries()) {
    const [open, remove] = /** @type {Iterable<HTMLButtonElement>} */ (
      byId("teach-frames").children[index].children
    );
    const boxes = plural(frame.boxes.length, "box", "boxes");
    setText(open.lastElementChild, boxes);
    open.setAttribute("aria-label", `Frame ${index + 1}, ${boxes}: ${isolate(frame.title)}`);
    open.setAttribute("aria-pressed", String(frame === edited));
    remove.setAttribute("aria-label", `Delete frame ${index + 1}`);
    remove.disabled = activity.teaching;
  }
  byId("teach-empty").hidden = frames.length > 0;
  byId("teach-frames").hidden = frames.length === 0;
  byId("teach-work").hidden = frames.length === 0 && teacher.taught().length === 0;
  byId("teach-surface").parentElement?.toggleAttribute("hidden", frames.length === 0);
}

// ------------------------------------------------------------------------ boxes and classes

function showSelection() {
  byId("teach-label").value = editor.selected?.label ?? label;
  byId("teach-remove").disabled = !editor.selected || activity.teaching;
  byId("teach-labels").replaceChildren(...knownLabels().map((name) => new Option("", name)));
}

/** A name as a known class has it, whatever its capitals. */
function properLabel(text) {
  const name = text.trim().replace(/\s+/g, " ");
  const lower = name.toLowerCase();
  return knownLabels().find((known) => known.toLowerCase() === lower) ?? name;
}

/** Take what stands in the field for the selected box, and for the next ones. */
function nameBox() {
  const box = editor.selected;
  if (box) box.label = ""; // else it would know its own former name
  label = properLabel(byId("teach-label").value);
  if (!box) return;
  box.label = label;
  editor.draw();
  noteChange();
}

/** Add the boxes that the model finds and nobody has drawn. */
async function addFound() {
  const frame = edited;
  if (!frame || !demo.ready) return;
  const bitmap = await createImageBitmap(frame.bitmap);
  const result = await alone(() => detect(bitmap, currentSettings()));
  result.bitmap.close();
  if (frame !== edited || activity.teaching) return;
  const names = demo.info?.names ?? [];
  const found = result.detections.map(({ x1, y1, x2, y2, classId }) => {
    return { x1, y1, x2, y2, label: names[classId] };
  });
  const fresh = found.filter((box) => frame.boxes.every((b) => overlapOf(b, box) < SAME_BOX));
  frame.boxes.push(...fresh);
  editor.draw();
  if (fresh.length) noteChange();
  tell(`The model finds ${plural(found.length, "box", "boxes")}; ${fresh.length} added.`);
}

/** Say what is missing before the frames can be used, and lead there. @returns {boolean} */
function lacksBoxes() {
  const unnamed = frames.findIndex(({ boxes }) => boxes.some((box) => !box.label));
  if (unnamed >= 0) {
    const frame = frames[unnamed];
    edit(frame);
    editor.select(frame.boxes.find((box) => !box.label) ?? null);
    byId("teach-label").focus();
    tell(`A box of frame ${unnamed + 1} has no class. Name it first.`);
    return true;
  }
  if (frames.some(({ boxes }) => boxes.length)) return false;
  tell("There are no boxes yet. Drag one around each thing that is to be learned.");
  byId(frames.length ? "teach-add" : "teach-take").focus();
  return true;
}

// ------------------------------------------------------------------------ teaching

/** Errors of the teacher that have no screen of their own. */
function asFailure(error) {
  const { code = "", message } = /** @type {Error & {code?: string}} */ (error);
  return Object.hasOwn(SCREENS, code) ? error : failure("teach-failed", message, error);
}

/** Do something to the model while the detector, the camera and the video rest. */
async function withModelAlone(task) {
  const wasRunning = activity.running;
  activity.teaching = true;
  halt();
  hideScreen();
  settleReady();
  try {
    await alone(async () => {}); // the detection that goes on
    return await task();
  } catch (error) {
    throw asFailure(error);
  } finally {
    activity.teaching = false;
    settleReady();
    if (demo.info) await afterLoad(wasRunning);
  }
}

/** Have the model learn the frames. */
export async function startTeaching() {
  if (activity.teaching || !demo.ready || teacher.available() || lacksBoxes()) return;
  const part = byId("teach-part").value === "whole" ? "whole" : "class";
  const wanted = Math.round(Number(byId("teach-steps").value));
  const steps = Math.min(Math.max(wanted || 1, 1), MAX_STEPS);
  byId("teach-steps").value = String(steps);
  const examples = frames.map(({ bitmap, boxes }) => ({ bitmap, boxes }));
  const onStep = watchSteps(steps);
  tell("Teaching. The detection rests until it is done.");
  say("Teaching; see below.");
  const outcome = await withModelAlone(() =>
    teacher.teach({ examples, part, steps, onStep }),
  ).catch((error) => {
    byId("teach-progress").hidden = true;
    tell(`The teaching failed: ${error.message}`);
    throw error;
  });
  tell(outcomeText(outcome));
}

/** @param {Outcome} outcome */
function outcomeText({ stopped, seconds, steps, firstLoss, lastLoss }) {
  const names = teacher.taught().map(isolate).join(", ") || "nothing yet";
  const done = `${stopped ? "Stopped after" : "Done:"} ${plural(steps, "step")}`;
  const loss = steps ? `, loss ${firstLoss.toFixed(2)} to ${lastLoss.toFixed(2)}` : "";
  return `${done} in ${Math.round(seconds)} s${loss}. The model has learned: ${names}.`;
}

/** Begin an empty curve. @returns {(step: Step) => void} Shows a step. */
function watchSteps(steps) {
  const bar = byId("teach-bar", "progress");
  const curve = byId("teach-curve").querySelector("polyline");
  const losses = [];
  let begun = 0; // when the first step was done, which takes longer than the others
  bar.value = 0;
  curve?.setAttribute("points", "");
  setText(byId("teach-step"), "Beginning…");
  byId("teach-progress").hidden = false;
  return ({ step, loss }) => {
    losses.push(loss);
    begun ||= performance.now();
    const each = (performance.now() - begun) / Math.max(losses.length - 1, 1);
    const left = Math.ceil(((steps - step) * each) / 1000);
    const time = losses.length > 1 ? `, ${left} s left` : "";
    bar.value = step / steps;
    setText(byId("teach-step"), `Step ${step} of ${steps}, loss ${loss.toFixed(2)}${time}`);
    curve?.setAttribute("points", curvePoints(losses, steps));
  };
}

/** Points of the curve in a square of 100, 0 below. @param {number[]} losses */
function curvePoints(losses, steps) {
  const top = Math.max(...losses, Number.MIN_VALUE) * 1.05;
  const every = Math.ceil(losses.length / CURVE_POINTS);
  const points = losses.map((loss, index) => {
    return `${(100 * index) / Math.max(steps - 1, 1)},${100 - (100 * loss) / top}`;
  });
  return points.filter((_, index) => index % every === 0 || index === points.length - 1).join(" ");
}

/** Have the teaching end after the present step. */
export function stopTeaching() {
  byId("teach-stop").disabled = true;
  tell("Stopping after this step…");
  teacher.stop();
}

async function undoTeaching() {
  await withModelAlone(async () => teacher.undo());
  byId("teach-progress").hidden = true;
  tell("The model is as it was before the teaching. The frames are still here.");
}

// ------------------------------------------------------------------------ saving

/** Do what takes a moment, once at a time. */
async function whileBusy(task) {
  busy = true;
  settle();
  try {
    await task();
  } finally {
    busy = false;
    settle();
  }
}

async function saveModel() {
  await whileBusy(async () => {
    const bytes = await teacher.save().catch((error) => {
      throw asFailure(error);
    });
    download(new Blob([bytes], { type: "application/octet-stream" }), "onnx", "taught");
    tell(savedText(`Saved the model: ${(bytes.length / 1e6).toFixed(1)} MB.`));
  });
}

async function saveData() {
  if (lacksBoxes()) return;
  await whileBusy(async () => {
    const file = zip(await dataSet(frames));
    download(file, "zip", "taught");
    guardFrames(false);
    const size = `${plural(frames.length, "picture")}, ${(file.size / 1e6).toFixed(1)} MB`;
    tell(savedText(`Saved ${size}. README.txt in it says how to train on them.`));
  });
}

// ------------------------------------------------------------------------ state

/** Bring the panel's parts to life or make them dead, but for those that open it. */
export function showPanel() {
  const { teaching } = activity;
  const reason = demo.info ? teacher.available() : "";
  const rests = teaching || busy;
  const focused = document.activeElement;
  for (const id of ["teach-label", "teach-add", "teach-part", "teach-steps"]) {
    byId(id).disabled = teaching;
  }
  byId("teach-found").disabled = rests || !demo.ready;
  byId("teach-start").disabled = rests || !demo.ready || reason !== "";
  byId("teach-stop").disabled = !teaching;
  byId("teach-undo").disabled = byId("teach-save-model").disabled =
    rests || teacher.taught().length === 0;
  byId("teach-save-data").disabled = rests || frames.length === 0;
  byId("teach-unavailable").hidden = !reason || teaching;
  setText(byId("teach-unavailable"), reason);
  editor.disabled = teaching;
  byId("teach-remove").disabled = teaching || !editor.selected;
  showFrames();
  if (teaching && focused === byId("teach-start")) byId("teach-stop").focus();
  if (!teaching && focused === byId("teach-stop")) byId("teach-start").focus();
}

/** Connect the panel's buttons and fields. */
export function wirePanel() {
  const clicks = {
    "teach-add": () => editor.addInMiddle(),
    "teach-remove": () => editor.remove(),
    "teach-found": addFound,
    "teach-start": startTeaching,
    "teach-stop": stopTeaching,
    "teach-undo": undoTeaching,
    "teach-save-model": saveModel,
    "teach-save-data": saveData,
  };
  for (const [id, task] of Object.entries(clicks)) {
    byId(id).addEventListener("click", () => attempt(task));
  }
  byId("teach-label").addEventListener("input", nameBox);
  byId("teach-label").addEventListener("change", showSelection);
  byId("teach-label").addEventListener("keydown", ({ key }) => key === "Enter" && editor.focus());
}
