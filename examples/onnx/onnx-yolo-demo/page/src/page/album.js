/**
 * The pictures that the user has opened: a strip of them, one after the other on the stage, and what
 * is found in all of them as one file.
 *
 * Their files are kept, and no pixels except the small pictures'.
 *
 * @import {Seen} from "./formats.js"
 */

import { byId } from "./environment.js";
import { asCoco, asCsv, asJson, distinctNames, inOwnPixels } from "./formats.js";
import { stop as stopLive } from "./live.js";
import { alone, detect } from "./model.js";
import { showPicture } from "./pictures.js";
import { download, madeWith, savedText } from "./saving.js";
import { currentSettings } from "./settings.js";
import { decodePicture } from "./sources.js";
import { activity, attempt, demo, say, settle } from "./status.js";
import { isolate, plural, setText } from "./text.js";
import { drawSmall } from "./thumbnail.js";

const SIZE = { width: 128, height: 96 }; // of small pictures
const SMALL = 40e3; // pixels that they are drawn from
const MAX_NAMED = 5; // files that did not open

/** @typedef {{file: File, button: HTMLButtonElement, tried: boolean}} Picture */

/** @type {Picture[]} */
let pictures = [];
let present = 0; // the one that was shown last
let drawing = false; // the small pictures
let ending = false; // the user wants no file of all any more

/** How the files of all pictures are written. */
const FORMATS = {
  json: { type: "application/json", write: asJson },
  csv: { type: "text/csv", write: asCsv },
  coco: {
    type: "application/json",
    write: (seen, head) => asCoco(seen, demo.info?.names ?? [], head),
  },
};

// ------------------------------------------------------------------------ the strip

/** @param {File} file @returns {Picture} */
function makePicture(file) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "thumbnail";
  button.title = file.name;
  button.setAttribute("aria-label", file.name || "Picture");
  button.setAttribute("aria-pressed", "false");
  const canvas = document.createElement("canvas");
  Object.assign(canvas, SIZE);
  button.append(canvas);
  const one = { file, button, tried: false };
  button.addEventListener("click", () => attempt(() => show(pictures.indexOf(one))));
  return one;
}

/** Draw the small pictures one after another, for each takes memory while it is decoded. */
async function drawThumbnails() {
  if (drawing) return;
  drawing = true;
  for (;;) {
    const next = pictures.find(({ tried }) => !tried);
    if (!next) break;
    next.tried = true;
    try {
      const { bitmap } = await decodePicture(next.file, SMALL);
      drawSmall(/** @type {HTMLCanvasElement} */ (next.button.firstChild), bitmap);
      bitmap.close();
    } catch {
      next.button.classList.add("broken"); // whoever presses it is told why
    }
  }
  drawing = false;
}

function showStrip() {
  const many = pictures.length > 1;
  byId("album").hidden = !many;
  byId("album-tools").hidden = !many;
  setText(byId("album-text"), `${present + 1} of ${pictures.length} pictures`);
}

/**
 * Add pictures to the strip, and show the first of them.
 * @param {File[]} files
 */
export async function openPictures(files) {
  const added = files.map(makePicture);
  pictures.push(...added);
  byId("strip", "div").append(...added.map(({ button }) => button));
  const shown = show(pictures.length - added.length);
  if (pictures.length > 1) drawThumbnails();
  await shown;
}

/** @param {number} index */
async function show(index) {
  present = index;
  const { file, button } = pictures[index];
  const result = showPicture(file, file.name || "Picture");
  button.setAttribute("aria-pressed", "true");
  showStrip();
  const strip = byId("strip", "div");
  strip.scrollLeft = button.offsetLeft - strip.offsetLeft - (strip.clientWidth - SIZE.width) / 2;
  await result;
}

/** Show the next picture; after the last one comes the first. @param {1|-1} by */
export async function turn(by) {
  const { length } = pictures;
  if (length && !activity.teaching) await show((present + by + length) % length);
}

/** Forget the pictures; the one on the stage stays there. */
export function clearAlbum() {
  pictures = [];
  present = 0;
  byId("strip", "div").replaceChildren();
  showStrip();
  byId("image-file").focus(); // the button with the keyboard's place is gone
}

// ------------------------------------------------------------------------ all as one file

/** @param {File} file @param {string} title @param {ReturnType<typeof currentSettings>} used */
async function seePicture(file, title, used) {
  const { bitmap, width, height } = await decodePicture(file);
  const kept = { width: bitmap.width, height: bitmap.height };
  const result = await alone(() => detect(bitmap, used));
  result.bitmap.close();
  const detections = result.detections.map((found) => {
    const name = demo.info?.names[found.classId] ?? "";
    return inOwnPixels({ ...found, name }, kept, { width, height });
  });
  return { title, width, height, detections };
}

/** See all pictures. @returns {Promise<{seen: Seen[], unread: string[]}>} Names of those that do not open. */
async function seeAll(files, used) {
  const seen = [];
  const unread = [];
  const titles = distinctNames(files.map(({ name }) => name));
  for (const [index, file] of files.entries()) {
    if (ending) break;
    say(`Detecting in picture ${index + 1} of ${files.length}…`);
    try {
      seen.push(await seePicture(file, titles[index], used));
    } catch (error) {
      if (/** @type {{code?: string}} */ (error).code !== "file-broken") throw error;
      unread.push(file.name);
    }
  }
  return { seen, unread };
}

/** Save what is found in all pictures. @param {keyof typeof FORMATS} format */
export async function saveAll(format) {
  if (!demo.ready || activity.saving) return;
  if (activity.running) stopLive();
  const used = currentSettings();
  Object.assign(activity, { saving: true });
  ending = false;
  settle();
  try {
    const files = pictures.map(({ file }) => file);
    const { seen, unread } = await seeAll(files, used);
    if (ending) {
      say("Stopped; nothing was saved.");
      return;
    }
    const { type, write } = FORMATS[format];
    const head = { ...madeWith(used), ...(unread.length ? { notOpened: unread } : {}) };
    const kind = format === "coco" ? "coco" : "detections";
    download(new Blob([write(seen, head)], { type }), format === "csv" ? "csv" : "json", kind);
    const count = seen.reduce((sum, { detections }) => sum + detections.length, 0);
    const text = `Saved ${plural(count, "detection")} in ${plural(seen.length, "picture")}.`;
    say(savedText(unread.length ? `${text} Not opened: ${namesOf(unread)}.` : text));
  } finally {
    activity.saving = false;
    settle();
  }
}

/** Some names, and how many more there are. @param {string[]} names */
function namesOf(names) {
  const left = names.length - MAX_NAMED;
  const named = names.slice(0, MAX_NAMED).map(isolate).join(", ");
  return left > 0 ? `${named} and ${left} more` : named;
}

/** Save no file of all pictures, after the present one. */
export function stopSaving() {
  ending = true;
}
