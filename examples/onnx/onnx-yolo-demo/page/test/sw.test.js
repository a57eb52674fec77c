import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { runInNewContext } from "node:vm";

/** The service worker in a browser of its own. @param {() => void} put May throw, as a full disk. */
function worker(put) {
  const handlers = {};
  const page = (text) => ({ ok: true, text, clone: () => page(text) });
  const kept = new Map([["http://here/", page("old")]]);
  const cache = {
    put: async (url, response) => {
      put();
      kept.set(url, response);
    },
  };
  const context = {
    self: { addEventListener: (name, handle) => Object.assign(handlers, { [name]: handle }) },
    fetch: async () => {
      if (context.offline) throw new TypeError("Failed to fetch");
      return page("new");
    },
    caches: {
      open: async () => cache,
      match: async (url) => kept.get(url),
      delete: async () => kept.clear(),
    },
    console: { warn: () => {} },
    offline: false,
  };
  runInNewContext(readFileSync(new URL("../sw.js", import.meta.url), "utf8"), context);
  const open = () => {
    let answer;
    const request = { url: "http://here/?x#y", mode: "navigate" };
    handlers.fetch({ request, respondWith: (given) => (answer = given) });
    return answer;
  };
  return { open, kept, context };
}

test("the fresh page shows, and is kept for times without a network", async () => {
  const { open, kept, context } = worker(() => {});
  assert.equal((await open()).text, "new");
  assert.equal(kept.get("http://here/").text, "new");
  context.offline = true;
  assert.equal((await open()).text, "new");
});

test("the fresh page shows even if there is no room to keep it", async () => {
  const full = () => {
    throw new DOMException("Quota exceeded.", "QuotaExceededError");
  };
  const { open, kept } = worker(full);
  assert.equal((await open()).text, "new");
  assert.equal(kept.size, 0); // nor does the old one come back later
});
