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

/** Choose a file by one of the page's buttons. */
export function choose(id, chosen) {
  const input = /** @type {HTMLInputElement} */ (byId(id));
  check(!input.disabled, `${id} is dead`);
  input.files = transferOf([chosen]).files;
  input.dispatchEvent(new Event("change", { bubbles: true }));
}

/** Drop files on the page. */
export function drop(files) {
  const dataTransfer = transferOf(files);
  for (const kind of ["dragenter", "dragover", "drop"]) {
    byId("stage").dispatchEvent(
      new DragEvent(kind, { bubbles: true, cancelable: true, dataTransfer }),
    );
  }
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
