/**
 * The user's hands: buttons, lists, keys, dropped and pasted files, and which buttons are alive.
 *
 * It only says which part does what; the parts know nothing of buttons. What fails becomes a
 * message screen, whose buttons are wired here, too.
 */

import { wireCounting } from "../count/counting.js";
import { failure } from "../worker/failure.js";
import * as album from "./album.js";
import { wireCompare } from "./compare.js";
import { rerun } from "./detection.js";
import { byId } from "./environment.js";
import { showLicences } from "./licences.js";
import { wireLink } from "./link.js";
import * as live from "./live.js";
import { chooseBackend, hasWork, loadBuiltin, loadFile } from "./loading.js";
import { openSource } from "./loop.js";
import { model } from "./model.js";
import { showSample } from "./pictures.js";
import { showPosition, toggleFullScreen, wireFullScreen, wirePlayer } from "./player.js";
import { toggleRecording, wireRecording } from "./recording.js";
import { saveJson, saveSnapshot } from "./saving.js";
import { wireSelfTest } from "./selftest.js";
import { wireSettings } from "./settings.js";
import { fileKind, filesToOpen, ScreenSource } from "./sources.js";
import { isSeen, onStage } from "./stage.js";
import { activity, attempt, connect, demo, hideScreen, say } from "./status.js";
import * as teach from "./teach_loader.js";
import { isolate, setText } from "./text.js";
import { toggleTheme } from "./theme.js";

const help = byId("help", "dialog");

/** Stop what goes on. */
function stop() {
  if (activity.teaching) return teach.stopTeaching();
  if (activity.saving) album.stopSaving();
  if (!activity.saving || hasWork()) live.stop();
}

const isBusy = () => activity.running || activity.teaching || activity.saving || hasWork();

const KEYS = {
  " ": () => (isBusy() ? stop() : live.start()),
  ".": live.step,
  ",": live.stepBack,
  n: () => album.turn(1),
  N: () => album.turn(1),
  p: () => album.turn(-1),
  P: () => album.turn(-1),
  f: toggleFullScreen,
  F: toggleFullScreen,
  s: saveSnapshot,
  S: saveSnapshot,
  r: toggleRecording,
  R: toggleRecording,
  t: teach.takeFrame,
  T: teach.takeFrame,
  "?": () => help.showModal(),
};

const CLICKS = {
  start: live.start,
  "camera-open": live.startCamera,
  "screen-open": live.startScreen,
  flip: live.flipCamera,
  stop,
  step: live.step,
  "step-back": live.stepBack,
  "picture-back": () => album.turn(-1),
  "picture-next": () => album.turn(1),
  "save-all-json": () => album.saveAll("json"),
  "save-all-csv": () => album.saveAll("csv"),
  "save-all-coco": () => album.saveAll("coco"),
  "album-clear": album.clearAlbum,
  "full-screen": toggleFullScreen,
  snapshot: saveSnapshot,
  "save-json": saveJson,
  record: toggleRecording,
  "model-builtin": loadBuiltin,
  "help-open": () => help.showModal(),
  "help-close": () => help.close(),
  "licences-open": showLicences,
  theme: toggleTheme,
};

/** What the buttons of messages do. */
const ACTIONS = {
  reload: () => location.reload(),
  dismiss: () => (demo.info ? hideScreen() : chooseBackend("auto")),
  "retry-camera": live.startCamera,
  "retry-screen": live.startScreen,
  "open-picture": () => byId("image-file").click(),
  "open-model": () => byId("model-file").click(),
  "show-sample": () => showSample(1),
  "use-wasm": () => chooseBackend("wasm"),
  "builtin-model": () => (demo.info && model.current?.builtin ? hideScreen() : loadBuiltin()),
  teach: teach.startTeaching,
  "reload-model": () => chooseBackend(byId("backend").value),
};

/** What would detect again, which has to wait while the model learns, or all pictures are seen. */
const RESTING = ["samples", "confidence", "iou", "classes", "backend", "range", "mirror"];
RESTING.push("camera-select", "album", "album-tools");

/** What the start button does with an open source. */
const START = { video: "Play video", screen: "Go on" };

/** Bring buttons to life or make them dead, as the page's state is. */
function showState() {
  const focused = /** @type {HTMLButtonElement|null} */ (document.activeElement);
  const { running, saving } = activity;
  const resting = activity.teaching || saving;
  const kind = openSource()?.kind;
  const able = demo.ready && !saving;
  byId("start").disabled = !able || running;
  const isStream = kind === "camera" || kind === "screen";
  byId("stop").disabled = !running && !resting && !isStream && !hasWork();
  for (const id of ["step", "step-back", "camera-open", "screen-open"]) byId(id).disabled = !able;
  byId("flip").hidden = !live.canFlip();
  byId("flip").disabled = resting;
  byId("camera-open").hidden = !kind || kind === "camera"; // else the start button opens it
  byId("screen-open").hidden = !ScreenSource.isThere || kind === "screen";
  byId("snapshot").disabled = byId("record").disabled = onStage() === null;
  byId("save-json").disabled = !isSeen();
  byId("model-builtin").disabled = resting || !model.current || model.current.builtin;
  // A picture that is chosen while a model loads, or before it is loaded again, gets its boxes later.
  const hopeless = model.current === null && !activity.booting;
  byId("image-file").disabled = byId("video-file").disabled =
    !activity.usable || hopeless || resting;
  byId("model-file").disabled = byId("compare-file").disabled = !activity.usable || resting;
  for (const id of RESTING) byId(id).disabled = resting;
  if (demo.info?.layout === "finished") byId("iou").disabled = true; // suppressed already
  byId("live-badge").hidden = !(running && isStream);
  teach.showTeaching();
  showPosition();
  setText(byId("start-text"), START[kind] ?? "Start camera");
  setText(byId("stop-text"), kind === "video" ? "Pause" : "Stop");
  // A button that goes dead must not take the keyboard's place with it.
  const lost = focused?.disabled && focused === document.activeElement;
  if (lost) byId(focused.id === "start" ? "stop" : "start").focus();
}

function wireChoices() {
  const onChange = (id, task) =>
    byId(id).addEventListener("change", () => attempt(() => task(byId(id))));
  wireSettings(() => attempt(rerun));
  wireCompare(() => attempt(rerun));
  wireCounting(() => attempt(rerun));
  wireRecording();
  wireLink();
  wirePlayer();
  wireFullScreen();
  wireSelfTest();
  onChange("backend", ({ value }) => chooseBackend(value));
  onChange("range", () => loadBuiltin());
  onChange("mirror", ({ checked }) => live.changeMirror(checked));
  onChange("camera-select", ({ value }) => live.changeCamera(value));
  navigator.mediaDevices?.addEventListener?.("devicechange", () =>
    live.fillCameras(byId("camera-select").value),
  );
}

// ------------------------------------------------------------------------ files

/** Open of several files what can be used together, and say which. @param {FileList|undefined} given */
async function openFiles(given) {
  const files = [...(given ?? [])];
  if (!activity.usable || activity.teaching || activity.saving || !files.length) return;
  const chosen = filesToOpen(files);
  const shown = chosen.filter((file) => fileKind(file) === "picture");
  const others = chosen.filter((file) => !shown.includes(file));
  for (const file of others) await openFile(file);
  if (shown.length) await album.openPictures(shown);
  if (chosen.length === files.length || demo.screen) return;
  const names = others.map(({ name }) => isolate(name));
  if (shown.length) names.push(shown.length > 1 ? `${shown.length} pictures` : shown[0].name);
  say(`${byId("status").textContent} Taken of ${files.length} files: ${names.join(" and ")}.`);
}

/** Open a model or a video. @param {File} file */
async function openFile(file) {
  const kind = fileKind(file);
  if (kind === "model") return loadFile(file);
  if (kind === "video") return live.startVideo(file);
  const message = `The file ${file.name} is neither a picture nor a video nor an .onnx model.`;
  throw failure("file-broken", message);
}

function wireFiles() {
  const onFile = (id, open) =>
    byId(id).addEventListener("change", () => {
      const files = [...(byId(id).files ?? [])];
      if (files.length) attempt(() => open(files));
      // The same file may be chosen again.
      byId(id).value = "";
    });
  onFile("image-file", album.openPictures);
  onFile("video-file", ([file]) => live.startVideo(file));
  onFile("model-file", ([file]) => loadFile(file));
}

/** Whether there are pictures and nothing else. @param {FileList|undefined} files */
function holdsPictures(files) {
  return [...(files ?? [])].every((file) => fileKind(file) === "picture");
}

function wireDrop() {
  let depth = 0; // of the elements that the file is over
  const show = (by) => {
    depth = Math.max(0, depth + by);
    byId("drop-hint").hidden = depth === 0 || !activity.usable;
  };
  document.addEventListener("dragenter", () => show(1));
  document.addEventListener("dragleave", () => show(-1));
  document.addEventListener("dragover", (event) => event.preventDefault());
  document.addEventListener("drop", (event) => {
    event.preventDefault();
    show(-depth);
    const files = event.dataTransfer?.files;
    const forTeaching = teach.isInPanel(event.target) && holdsPictures(files);
    attempt(() => (forTeaching ? teach.addFiles(files) : openFiles(files)));
  });
}

function wirePaste() {
  document.addEventListener("paste", (event) => {
    const files = event.clipboardData?.files;
    if (!files?.length) return;
    event.preventDefault();
    attempt(() => openFiles(files));
  });
}

// ------------------------------------------------------------------------ keys

/** Whether an element uses this key itself. */
function keyBelongsTo(element, key) {
  if (element.matches("select, textarea, input:is([type=search], [type=text], [type=number])"))
    return true;
  return key === " " && element.matches("button, a, summary, input:not([type=range])");
}

function wireKeys() {
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || help.open) return;
    const task = KEYS[event.key];
    if (!task || keyBelongsTo(event.target, event.key)) return;
    event.preventDefault();
    if (!event.repeat || event.key === ".") attempt(task);
  });
}

/** Connect everything that the user can touch. */
export function wireControls() {
  connect({ onState: showState, onAction: (action) => attempt(ACTIONS[action]) });
  for (const [id, task] of Object.entries(CLICKS)) {
    byId(id).addEventListener("click", () => attempt(task));
  }
  wireChoices();
  teach.wireTeaching();
  wireFiles();
  wireDrop();
  wirePaste();
  wireKeys();
}
