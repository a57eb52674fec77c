/**
 * WebGPU: whether this device has an adapter for it, and the runtime, which is loaded only then.
 */
import { hasAsset, loadAssets } from "./assets.js";
import { byId } from "./environment.js";
import { failure } from "./failure.js";

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
 * Bring the runtime for WebGPU into the page.
 * @throws {Error} `.code` "no-webgpu": this copy of the page comes without it.
 */
export async function loadWebgpuRuntime() {
  if (hasAsset("webgpu-wasm")) return;
  const source = byId("webgpu-runtime", "script")?.getAttribute("src");
  try {
    if (!source) throw failure("assets-missing", "a single file holds it only if built so");
    await loadAssets(source);
  } catch (error) {
    const reason = /** @type {Error} */ (error).message;
    throw failure(
      "no-webgpu",
      `this copy of the page holds the runtime for WebAssembly alone (${reason}); ` +
        "tools.build_demo adds the one for WebGPU",
    );
  }
}
