/**
 * What the user takes away: the stage as a picture, the detections as JSON.
 *
 * A file of detections names the model, the settings and the picture, so that it can be told later
 * what it was made from.
 */
import { countsToSave } from "../count/counting.js";
import { modelFacts } from "./model.js";
import { isSeen, onStage, snapshot } from "./stage.js";
import { demo, say } from "./status.js";

/**
 * What to say of a file that was handed to the browser. A sandboxed frame may block it, and no script
 * is told.
 * @param {string} text Such as "Saved a snapshot."
 */
export function savedText(text) {
  const isSandboxed = window !== window.top && self.origin === "null";
  if (!isSandboxed) return text;
  return "Handed to the browser; if no file was saved, this frame is not allowed to: open the page by itself.";
}

/**
 * Let the browser save a file, with the time in its name.
 * @param {Blob} blob
 * @param {string} ending
 * @param {string} [kind] What it holds.
 */
export function download(blob, ending, kind = "detections") {
  const link = document.createElement("a");
  const time = new Date().toISOString().slice(0, 19).replaceAll(":", "-");
  link.href = URL.createObjectURL(blob);
  link.download = `${kind}-${time}.${ending}`;
  link.click();
  // The browser needs the address until it has begun to save.
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

export async function saveSnapshot() {
  if (!onStage()) return;
  download(await snapshot(), "png");
  say(savedText("Saved a snapshot."));
}

/**
 * What a file of detections was made with.
 * @param {{confidence: number[], iou: number, enabled: number[]|null}} settings
 */
export function madeWith({ confidence, iou, enabled }) {
  const ofClasses = demo.info?.names.map((name, classId) => [name, confidence[classId]]) ?? [];
  return {
    created: new Date().toISOString(),
    model: modelFacts(),
    thresholds: { confidence: Object.fromEntries(ofClasses), iou },
    classes: enabled ?? "all",
  };
}

export function saveJson() {
  const { last } = demo;
  if (!isSeen()) return;
  const content = {
    ...madeWith(last.settings),
    picture: { title: last.title, width: last.width, height: last.height },
    shownMirrored: last.mirrored,
    milliseconds: last.times,
    counts: countsToSave(),
    detections: last.detections,
  };
  const text = `${JSON.stringify(content, null, 2)}\n`;
  download(new Blob([text], { type: "application/json" }), "json");
  say(savedText("Saved the detections."));
}
