"use strict";

/**
 * What the page finds around it: its elements, its address, what the browser keeps and lacks.
 *
 * Every other part asks here, so that the page's switches (`?backend`, `?threads`, `?frames`,
 * `?benchmark`) and the browser's limits are in one place. It keeps nothing and needs no other
 * part.
 */
// biome-ignore lint/correctness/noUnusedVariables: the next scripts use it.
const demoEnvironment = (() => {
  const address = new URLSearchParams(location.search);

  /** @param {string} id @returns {HTMLElement} */
  const byId = (id) => document.getElementById(id);

  /** What a session keeps over a reload; some browsers allow none of it to pages from disk. */
  const memory = {
    get(store, key) {
      try {
        return window[store].getItem(key) ?? "";
      } catch {
        return "";
      }
    },
    set(store, key, value) {
      try {
        window[store].setItem(key, value);
      } catch {
        // Not remembered: the page works without.
      }
    },
  };

  /** @returns {number|undefined} Threads that the address asks for. */
  function wantedThreads() {
    const wanted = Number.parseInt(address.get("threads"), 10);
    return wanted > 0 ? wanted : undefined;
  }

  /** @returns {string[]} Names of what the page needs and this browser lacks. */
  function missingFeatures() {
    const needed = {
      Worker: "workers",
      WebAssembly: "WebAssembly",
      createImageBitmap: "createImageBitmap",
      OffscreenCanvas: "OffscreenCanvas",
      DecompressionStream: "DecompressionStream",
      ResizeObserver: "ResizeObserver",
    };
    return Object.keys(needed).filter((name) => !(name in window));
  }

  return { address, byId, memory, wantedThreads, missingFeatures };
})();
