/**
 * WebGPU: whether this device has an adapter for it, and the scripts that are loaded only then.
 *
 * @import {Form} from "../worker/onnx_read.js"
 */

import { failure } from "../worker/failure.js";
import { otherModel } from "../worker/onnx_read.js";
import { assetJson, hasAsset, loadScript } from "./assets.js";
import { byId } from "./environment.js";

function describe(adapter) {
  const info = adapter.info ?? {};
  const words = [info.vendor, info.architecture, info.device, info.description];
  return words.filter(Boolean).join(" ") || "unnamed adapter";
}

function isSoftware(adapter, name) {
  // Where it is said depends on the browser's age; some only say it in the name.
  const said = adapter.info?.isFallbackAdapter ?? adapter.isFallbackAdapter ?? false;
  return said || /swiftshader|llvmpipe|lavapipe|basic render/i.test(name);
}

/**
 * The graphics adapter.
 * @returns {Promise<{adapter: string, software: boolean, note: string}>} Its name, "" for none;
 *   whether it is a program and not a device; `note` says so, or why there is none.
 */
export async function findAdapter() {
  const none = (note) => ({ adapter: "", software: false, note });
  const { gpu } = /** @type {any} */ (navigator);
  if (!gpu) return none("this browser, or this address, does not offer WebGPU");
  try {
    const found = await gpu.requestAdapter();
    if (!found) return none("the browser found no graphics adapter for WebGPU");
    const adapter = describe(found);
    const software = isSoftware(found, adapter);
    const slow = `WebGPU's only adapter (${adapter}) is a slow imitation by software`;
    return { adapter, software, note: software ? slow : "" };
  } catch (error) {
    return none(`WebGPU does not start: ${/** @type {Error} */ (error).message}`);
  }
}

/**
 * Bring an asset into the page that lies in a script of its own.
 * @param {string} asset
 * @param {string} id Of the element that names the script.
 * @param {string} without What this copy of the page is, if it comes without.
 * @throws {Error} `.code` "no-webgpu".
 */
async function loadLater(asset, id, without) {
  if (hasAsset(asset)) return;
  const source = byId(id, "script")?.getAttribute("src");
  try {
    if (!source) throw failure("assets-missing", "a single file holds it only if built so");
    await loadScript(source);
    if (!hasAsset(asset)) throw failure("assets-missing", `${source} lacks it`);
  } catch (error) {
    const reason = /** @type {Error} */ (error).message;
    throw failure(
      "no-webgpu",
      `this copy of the page ${without} (${reason}); tools.build_demo adds what WebGPU needs`,
    );
  }
}

/**
 * Bring the runtime for WebGPU into the page.
 * @throws {Error} `.code` "no-webgpu": this copy of the page comes without it.
 */
export function loadWebgpuRuntime() {
  const without = "holds the runtime for WebAssembly alone";
  return loadLater("webgpu-wasm", "webgpu-runtime", without);
}

/**
 * Bring the floats of the built-in model into the page, and see that they are of the same model.
 * @param {Form} own What is known of the form in 8-bit integers, which WebGPU does not compute.
 * @throws {Error} `.code` "no-webgpu": they are not there, or another model's.
 */
export async function loadFloats(own) {
  const without = "holds its model in 8-bit integers alone, which WebGPU does not compute";
  await loadLater("model-webgpu-info", "webgpu-model", without);
  const other = otherModel(own, await assetJson("model-webgpu-info"));
  if (!other) return;
  throw failure(
    "no-webgpu",
    `the floats for WebGPU beside this page are of another model (${other}); build the page again`,
  );
}
