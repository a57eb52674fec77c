/** What the model sees, in words on the stage, and read out by screen readers if that is asked for. */
import { byId } from "./environment.js";
import { sentence, setText, spoken } from "./text.js";

const READ_EVERY_MS = 1000;
let readAt = Number.NEGATIVE_INFINITY;

/**
 * @param {{name: string}[]|null} detections Null if the picture has not been seen yet.
 * @param {boolean} live Whether more pictures follow; of others the status line tells.
 */
export function showSeen(detections, live) {
  const text = detections ? spoken(detections) : "";
  byId("sees").hidden = !detections?.length;
  setText(byId("sees"), text);
  const now = performance.now();
  if (!live || !detections || !byId("announce").checked || now - readAt < READ_EVERY_MS) return;
  readAt = now;
  setText(byId("announcement"), sentence(text));
}
