/**
 * What the page is doing, and how it says so: its state, the status line, message screens, errors.
 *
 * The other parts tell it what they do (`activity`) and have it look at the whole (`settle`), so
 * that the state is worked out in one place. It calls none of them: controls.js connects the buttons.
 *
 * @import {Info} from "./model.js"
 */
import { byId } from "./environment.js";
import { SCREENS, writeScreen } from "./messages.js";
import { sentence, setText } from "./text.js";

/** What goes on; whoever changes it calls `settle`. */
export const activity = {
  running: false, // the frame loop
  paused: false, // a camera or video was stopped, and its last frame is shown
  teaching: false, // the model learns; the detector rests
  saving: false, // all pictures are being seen, for a file
  booting: true, // until the first picture has its detections
  usable: false, // whether the browser and the page's files allow anything at all
};

/** What the page tells scripts; main.js adds the functions and makes it `window.demo`. */
export const demo = {
  ready: false,
  state: "loading",
  /** @type {string|null} Id of the message screen that is shown. */
  screen: null,
  /** @type {Info|null} */
  info: null,
  /** @type {any} The last detections, with their picture and settings; see stage.js. */
  last: null,
  frames: 0,
  /** @type {string[]} */
  errors: [],
  /** @type {number|null} */
  firstResultMs: null,
};

const handlers = { onState: () => {}, onAction: (/** @type {string} */ _action) => {} };

/** @param {{onState: () => void, onAction: (action: string) => void}} given `onState` is called
 *   when the state was worked out, `onAction` with the action of a message's button. */
export function connect(given) {
  Object.assign(handlers, given);
}

/**
 * @param {string} text For the status line.
 * @param {boolean} [bad] Whether it tells of a failure.
 */
export function say(text, bad = false) {
  setText(byId("status"), text);
  byId("status").classList.toggle("bad", bad);
}

function presentState() {
  if (activity.teaching) return "teaching";
  if (activity.saving) return "saving";
  if (activity.running) return "running";
  if (demo.screen) return "error";
  if (!demo.ready) return "loading";
  return activity.paused ? "paused" : "ready";
}

/** Take the state that follows from what is going on. */
export function settle() {
  demo.state = presentState();
  document.body.dataset.state = demo.state;
  handlers.onState();
}

/** Be ready if there is a model that does not learn, and the first picture has been seen to. */
export function settleReady() {
  demo.ready = demo.info !== null && !activity.booting && !activity.teaching;
  settle();
}

/**
 * @param {string} id Of the message screen.
 * @param {{happened?: string, detail?: string}} [texts] See `writeScreen`.
 */
export function showScreen(id, texts = {}) {
  demo.screen = id;
  writeScreen(byId("message"), id, texts, (action) => handlers.onAction(action));
  const title = sentence(SCREENS[id].title);
  say(texts.happened || [title, texts.detail].filter(Boolean).join(" "), true);
  settle();
}

export function hideScreen() {
  demo.screen = null;
  byId("message").hidden = true;
  byId("message").replaceChildren();
  settle();
}

/** Show the screen of an error; errors without one are for the runtime's screen. */
export function showFailure(error) {
  const code = error.code === "assets-missing" ? "no-assets" : error.code;
  const id = Object.hasOwn(SCREENS, code) ? code : "runtime";
  const own = ["no-camera", "camera-refused", "no-screen", "file-broken"].includes(id);
  showScreen(id, { [own ? "happened" : "detail"]: sentence(error.message) });
}

/** Run what a user asked for; its failure becomes a screen. */
export async function attempt(task) {
  try {
    await task();
  } catch (error) {
    showFailure(error);
  }
}

/** Note an error that nobody expected. @param {string} text */
export function recordError(text) {
  demo.errors.push(text);
  say(`Error: ${text}`, true);
}

/** Record what nobody catches, and what the page's policy blocks. */
export function watchErrors() {
  window.addEventListener("error", (event) => recordError(event.message || "unknown error"));
  window.addEventListener("unhandledrejection", ({ reason }) =>
    recordError(String(reason?.message ?? reason)),
  );
  document.addEventListener("securitypolicyviolation", (event) =>
    recordError(`the page's policy blocked ${event.blockedURI} (${event.violatedDirective})`),
  );
}
