/**
 * What the page finds around it: its elements, its address, what the browser keeps and lacks.
 */

/** @returns {URLSearchParams} The settings in the page's address; those behind its "#" come first. */
export function givenAddress() {
  return new URLSearchParams(`${location.hash.slice(1)}&${location.search.slice(1)}`);
}

/**
 * An element of the page; most of those that the page works with are inputs and buttons.
 * @template {keyof HTMLElementTagNameMap} [Tag="input"]
 * @param {string} id
 * @param {Tag} [_tag] What kind of element it is.
 * @returns {HTMLElementTagNameMap[Tag]}
 */
export function byId(id, _tag) {
  return /** @type {any} */ (document.getElementById(id));
}

/** @returns {number} Pixels of the letters that the browser's settings ask for, usually 16. */
export function rootFontSize() {
  return Number.parseFloat(getComputedStyle(document.documentElement).fontSize);
}

/** What a session keeps over a reload; some browsers allow none of it to pages from disk. */
export const memory = {
  /** @param {"localStorage"|"sessionStorage"} store @param {string} key */
  get(store, key) {
    try {
      return window[store].getItem(key) ?? "";
    } catch {
      return "";
    }
  },
  /** @param {"localStorage"|"sessionStorage"} store @param {string} key @param {string} value */
  set(store, key, value) {
    try {
      window[store].setItem(key, value);
    } catch {
      // Not remembered: the page works without.
    }
  },
};

/** @returns {string} The back end that the address asks for, "" for none. */
export function wantedBackend() {
  const wanted = givenAddress().get("backend") ?? "";
  return ["webgpu", "wasm"].includes(wanted) ? wanted : "";
}

/** @returns {number} Threads for WebAssembly; more than one only where the server allows it. */
export function threadCount() {
  const wanted = Number.parseInt(givenAddress().get("threads") ?? "", 10);
  if (!self.crossOriginIsolated) return 1;
  return wanted > 0 ? wanted : Math.min(4, navigator.hardwareConcurrency);
}

/** Whether this is an iPhone or an iPad; the latter says that it is a Mac, which has no touch screen. */
export function isIos() {
  const { userAgent, platform, maxTouchPoints } = navigator;
  return /iPhone|iPad|iPod/.test(userAgent) || (platform === "MacIntel" && maxTouchPoints > 1);
}

/** @returns {string[]} Names of what the page needs and this browser lacks. */
export function missingFeatures() {
  const needed = [
    "Worker",
    "WebAssembly",
    "createImageBitmap",
    "OffscreenCanvas",
    "ResizeObserver",
  ];
  const missing = needed.filter((name) => !(name in window));
  const video = "requestVideoFrameCallback";
  return video in HTMLVideoElement.prototype ? missing : [...missing, video];
}
