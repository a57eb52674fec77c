/**
 * Tests that run inside of the page, in a browser: tests/examples/yolo11n/page/test_inside.py bundles
 * each file of this folder, and calls what it gives to `scenarios` one after another.
 */

export const demo = () => /** @type {any} */ (window).demo;
export const byId = (id) => document.getElementById(id);
export const status = () => byId("status").textContent;
export const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** @param {Record<string, () => Promise<void>>} tests By their names. */
export function scenarios(tests) {
  Object.assign(window, { scenarios: tests });
}

export function check(fact, what) {
  if (!fact) throw new Error(`${what}; the page says "${status()}", state ${demo().state}`);
}

/** Wait until something holds. */
export async function until(test, what, ms = 60000) {
  const end = performance.now() + ms;
  while (!test()) {
    check(performance.now() < end, `waited for ${what}`);
    await sleep(20);
  }
}

/** Wait for a message screen. @returns {Promise<string>} Its text. */
export async function screen(id) {
  await until(() => demo().screen, `the screen ${id}`);
  const text = byId("message").innerText;
  check(demo().screen === id, `the screen is ${demo().screen} instead of ${id}: ${text}`);
  return text;
}

export function file(content, name, type = "") {
  return new File([content], name, { type });
}

function transferOf(files) {
  const transfer = new DataTransfer();
  for (const one of files) transfer.items.add(one);
  return transfer;
}

/** Choose files by one of the page's buttons. */
export function choose(id, ...chosen) {
  const input = /** @type {HTMLInputElement} */ (byId(id));
  check(!input.disabled, `${id} is dead`);
  input.files = transferOf(chosen).files;
  input.dispatchEvent(new Event("change", { bubbles: true }));
}

/** Drop files on the page. @param {string} [place] Id of the element. */
export function drop(files, place = "stage") {
  const dataTransfer = transferOf(files);
  for (const kind of ["dragenter", "dragover", "drop"]) {
    byId(place).dispatchEvent(
      new DragEvent(kind, { bubbles: true, cancelable: true, dataTransfer }),
    );
  }
}

/** Paste files. Firefox makes no ClipboardEvent with files. */
export function paste(files) {
  const event = new Event("paste", { bubbles: true, cancelable: true });
  Object.defineProperty(event, "clipboardData", { value: transferOf(files) });
  document.body.dispatchEvent(event);
}

/** What the page saved last. @type {{name: string, blob: Blob|null}} */
export const saved = { name: "", blob: null };

/** Take what the page saves. */
export function watchDownloads() {
  const blobs = new Map();
  const { createObjectURL } = URL;
  URL.createObjectURL = (blob) => {
    const url = createObjectURL(blob);
    blobs.set(url, blob);
    return url;
  };
  HTMLAnchorElement.prototype.click = function () {
    Object.assign(saved, { name: this.download, blob: blobs.get(this.href) });
  };
}

/** A picture of one colour as a PNG file. */
export async function picture(colour, name, width = 64, height = 64) {
  const canvas = new OffscreenCanvas(width, height);
  const context = canvas.getContext("2d");
  context.fillStyle = colour;
  context.fillRect(0, 0, width, height);
  return file(await canvas.convertToBlob(), name, "image/png");
}

/** Wait until the page is ready, without a message, with a model of this name. */
export const ready = (name) =>
  until(
    () => demo().ready && !demo().screen && demo().info.modelName === name,
    `the model ${name}`,
  );

export const press = (id) => byId(id).click();

/** A canvas with a green square that moves to the right, again and again or once, when it rests there. */
export function scene(again = true) {
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [320, 240];
  const context = canvas.getContext("2d");
  let frame = 0;
  const draw = () => {
    context.fillStyle = "#46506e";
    context.fillRect(0, 0, 320, 240);
    context.fillStyle = "#00dc28";
    // Once it goes slowly, so that a busy machine may leave many frames out.
    const left = again ? 40 + 8 * (frame % 20) : 100 + 2 * Math.min(frame, 40);
    context.fillRect(left, 90, 50, 50);
    frame += 1;
  };
  draw();
  const timer = setInterval(draw, 70);
  const end = () => clearInterval(timer);
  return { stream: canvas.captureStream(15), end, frames: () => frame };
}

/** What a stream shows or sounds like, for some milliseconds or until something holds, as a file. */
export async function record(stream, time, mimeType = "video/webm") {
  const recorder = new MediaRecorder(stream, { mimeType });
  const parts = [];
  recorder.ondataavailable = ({ data }) => parts.push(data);
  const end = new Promise((resolve) => {
    recorder.onstop = resolve;
  });
  recorder.start();
  await (typeof time === "number" ? sleep(time) : until(time, "the film"));
  recorder.stop();
  await end;
  return new Blob(parts, { type: mimeType });
}

/** Do something that makes frames come, and wait for some. */
export async function framesAfter(action, count = 3) {
  const { frames } = demo();
  action();
  await until(() => demo().state === "running" && demo().frames > frames + count, "frames");
}
