import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { runInNewContext } from "node:vm";

/** The service worker in a browser of its own. @param {() => void} put May throw, as a full disk. */
function worker(put) {
  const handlers = {};
  const page = (content) => ({
    ok: true,
    content,
    clone: () => page(content),
    text: async () => content,
  });
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
      return page(context.sent);
    },
    caches: {
      open: async () => cache,
      match: async (url) => kept.get(url),
      delete: async () => kept.clear(),
    },
    console: { warn: () => {} },
    offline: false,
    sent: "new",
  };
  runInNewContext(readFileSync(new URL("../sw.js", import.meta.url), "utf8"), context);
  const open = () => {
    let answer;
    const request = { url: "http://here/?x#y", mode: "navigate" };
    handlers.fetch({ request, respondWith: (given) => (answer = given) });
    return answer;
  };
  /** What the worker answers to a page of this version. */
  const look = async (version) => {
    const said = [];
    const source = { url: "http://here/#x", postMessage: ({ type }) => said.push(type) };
    const waiting = [];
    const waitUntil = (promise) => waiting.push(promise);
    handlers.message({ data: { type: "look", version }, source, waitUntil });
    await Promise.all(waiting);
    return said;
  };
  return { open, look, kept, context };
}

test("the fresh page shows, and is kept for times without a network", async () => {
  const { open, kept, context } = worker(() => {});
  assert.equal((await open()).content, "new");
  assert.equal(kept.get("http://here/").content, "new");
  context.offline = true;
  assert.equal((await open()).content, "new");
});

test("the fresh page shows even if there is no room to keep it", async () => {
  const full = () => {
    throw new DOMException("Quota exceeded.", "QuotaExceededError");
  };
  const { open, kept } = worker(full);
  assert.equal((await open()).content, "new");
  assert.equal(kept.size, 0); // nor does the old one come back later
});

test("a page that is open is told of another version, which is kept", async () => {
  const { look, kept, context } = worker(() => {});
  context.sent = '<html data-version="0a1b">';
  assert.deepEqual(await look("0a1b"), []);
  assert.equal(kept.get("http://here/").content, "old");
  assert.deepEqual(await look("ffff"), ["newer"]);
  assert.equal(kept.get("http://here/").content, context.sent);
  context.sent = "what a proxy answers that wants a password";
  assert.deepEqual(await look("ffff"), []);
  context.offline = true;
  assert.deepEqual(await look("ffff"), []);
});
