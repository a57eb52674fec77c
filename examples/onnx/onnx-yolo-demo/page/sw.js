/**
 * The service worker of the page in one file: keeps it for times without a network.
 *
 * The server is asked first, so a page that was built anew shows at once; its last answer is kept
 * for when it can't be reached.
 */
const CACHE = "page";

/** Without settings; they are the page's own concern. */
const addressOf = (url) => url.replace(/[?#].*/s, "");

async function fetchAndKeep(url, request) {
  const response = await fetch(request);
  const cache = await caches.open(CACHE);
  if (response.ok) await cache.put(url, response.clone());
  return response;
}

/** The page that registers this has been loaded already. */
async function keepOpenPages() {
  const pages = await self.clients.matchAll({ includeUncontrolled: true });
  const urls = new Set(pages.map(({ url }) => addressOf(url)));
  await Promise.all([...urls].map((url) => fetchAndKeep(url, url)));
}

async function answer(request) {
  const url = addressOf(request.url);
  try {
    return await fetchAndKeep(url, request);
  } catch (error) {
    const kept = await caches.match(url);
    if (kept) return kept;
    throw error;
  }
}

self.addEventListener("install", (event) => event.waitUntil(keepOpenPages()));
self.addEventListener("fetch", (event) => {
  if (event.request.mode === "navigate") event.respondWith(answer(event.request));
});
