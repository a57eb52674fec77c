/**
 * The service worker of the page in one file: keeps it for times without a network.
 *
 * The server is asked first, so a page that was built again shows at once; its last answer is kept
 * for when it can't be reached. A page that is open asks from time to time whether there is another
 * version: {type: "look", version}; the answer, if there is, is {type: "newer"}.
 */
const CACHE = "page";

/** Without settings; they are the page's own concern. */
const addressOf = (url) => url.replace(/[?#].*/s, "");

async function keep(url, response) {
  const cache = await caches.open(CACHE);
  if (response.ok) await cache.put(url, response.clone());
}

/** The page that registers this has been loaded already. */
async function keepOpenPages() {
  const pages = await self.clients.matchAll({ includeUncontrolled: true });
  const urls = new Set(pages.map(({ url }) => addressOf(url)));
  await Promise.all([...urls].map(async (url) => keep(url, await fetch(url))));
}

async function fetchOrTakeKept(url, request) {
  try {
    return await fetch(request);
  } catch (error) {
    const kept = await caches.match(url);
    if (kept) return kept;
    throw error;
  }
}

async function answer(request) {
  const url = addressOf(request.url);
  const response = await fetchOrTakeKept(url, request);
  try {
    await keep(url, response);
  } catch (error) {
    // No room for it: the fresh page shows all the same, and what was kept before is out of date.
    console.warn(`the page is not kept on this device: ${error.message}`);
    await caches.delete(CACHE);
  }
  return response;
}

/** Whether the server has another version than a page; it is kept then, for the next start. */
async function look(client, version) {
  const url = addressOf(client.url);
  // Where the server tags its answers, no byte of an unchanged page is sent again.
  const response = await fetch(url, { cache: "no-cache" });
  const [, found] = /data-version="(\w+)"/.exec(await response.clone().text()) ?? [];
  if (!found || found === version) return;
  await keep(url, response);
  client.postMessage({ type: "newer" });
}

self.addEventListener("install", (event) => {
  // It does what the one before does, or more: no need to wait until all pages are closed.
  self.skipWaiting();
  event.waitUntil(keepOpenPages());
});
self.addEventListener("message", (event) => {
  const { data, source } = event;
  // Without a network there is nothing new.
  if (data.type === "look") event.waitUntil(look(source, data.version).catch(() => {}));
});
self.addEventListener("fetch", (event) => {
  if (event.request.mode === "navigate") event.respondWith(answer(event.request));
});
