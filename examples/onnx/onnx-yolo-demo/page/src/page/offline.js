/**
 * Installing the page, and using it without a network, where a server sends it as one file.
 *
 * A page from disk needs neither. The manifest is made here, for it has to name the page's address.
 */
import { byId } from "./environment.js";
import { attempt } from "./status.js";
import { setText } from "./text.js";

const LOOK_EVERY_MS = 3600e3;

/** @returns {string} The manifest as an address. */
function manifest() {
  const page = location.href.replace(/[?#].*/s, "");
  const icon = document.querySelector("link[rel=icon]")?.getAttribute("href");
  const content = {
    name: document.title,
    short_name: "Detection",
    start_url: page,
    scope: new URL(".", page).href,
    display: "standalone",
    background_color: "#0e1116",
    theme_color: "#0e1116",
    icons: [{ src: icon, sizes: "any", type: "image/svg+xml" }],
  };
  return `data:application/manifest+json,${encodeURIComponent(JSON.stringify(content))}`;
}

/** Say so when the server has another version of the page than this one. @param {ServiceWorker} keeper */
function watchVersion(keeper) {
  const { version } = document.documentElement.dataset;
  let looked = performance.now(); // this page is as new as the server's, or there is no network
  const look = (least) => {
    if (document.hidden || performance.now() - looked < least) return;
    looked = performance.now();
    keeper.postMessage({ type: "look", version });
  };
  setInterval(() => look(LOOK_EVERY_MS), LOOK_EVERY_MS);
  document.addEventListener("visibilitychange", () => look(LOOK_EVERY_MS));
  window.addEventListener("online", () => look(0));
  navigator.serviceWorker.addEventListener("message", ({ data }) => {
    if (data.type !== "newer") return;
    const text = "A new version of this page is there, and this is the old one: reload the page.";
    setText(byId("version-note"), text);
    byId("version-note").hidden = false;
  });
}

async function keep() {
  try {
    await navigator.serviceWorker.register("sw.js");
    const { active } = await navigator.serviceWorker.ready;
    if (active) watchVersion(active);
    setText(byId("offline-note"), "Kept on this device: it opens without a network, too.");
  } catch (error) {
    const reason = /** @type {Error} */ (error).message;
    setText(byId("offline-note"), `Not kept for use without a network: ${reason}`);
  }
}

/** Offer the browser's own question, when there is one. */
function offerInstalling() {
  const button = byId("install", "button");
  window.addEventListener("beforeinstallprompt", (event) => {
    event.preventDefault();
    button.hidden = false;
    button.onclick = () => attempt(() => /** @type {any} */ (event).prompt());
  });
  window.addEventListener("appinstalled", () => {
    button.hidden = true;
  });
}

/** Whether the browser can keep pages; a sandboxed frame throws when it is asked. */
function canKeep() {
  try {
    return Boolean(navigator.serviceWorker);
  } catch {
    return false;
  }
}

/** Keep the page on the device, if it is served as one file. */
export async function keepOffline() {
  const isOneFile = document.querySelector("script[src]") === null;
  if (!isOneFile || !/^https?:$/.test(location.protocol) || !canKeep()) return;
  byId("offline-card").hidden = false;
  const link = document.createElement("link");
  Object.assign(link, { rel: "manifest", href: manifest() });
  document.head.append(link);
  offerInstalling();
  await keep();
}
