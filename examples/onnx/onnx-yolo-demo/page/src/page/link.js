/**
 * The card "Link": the page's settings go into an address, and come from the one that it was opened by.
 *
 * They stand behind the "#", which no server gets to see. What can't be used is named and left out.
 */

import { countingSettings, setCounting } from "../count/counting.js";
import { readSettings, writeSettings } from "./address.js";
import { rerun } from "./detection.js";
import { byId, givenAddress } from "./environment.js";
import { chooseBackend, loadModel } from "./loading.js";
import { builtinModel, hasFar, model } from "./model.js";
import { compareProof, presentProof, takeProof } from "./proof.js";
import { currentSettings, moveSliders, setClassesOff, sliderValues } from "./settings.js";
import { attempt, demo, say } from "./status.js";
import { isolate, sentence, setText } from "./text.js";

/** @returns {string} The page's address with its present settings. */
function presentLink() {
  const { enabled } = currentSettings();
  const { on, line } = countingSettings();
  const names = demo.info?.names ?? [];
  const threads = givenAddress().get("threads");
  const settings = writeSettings({
    ...sliderValues(),
    backend: byId("backend").value,
    threads: threads ? Number.parseInt(threads, 10) || undefined : undefined,
    count: on,
    line: line ?? undefined,
    far: model.current?.far,
    off: enabled ? names.filter((_, classId) => !enabled.includes(classId)) : [],
  });
  return `${location.href.replace(/[?#].*/s, "")}#${settings}`;
}

/** Copy a link, and show it, for a browser may not let the page copy. @param {string} link */
async function copyLink(link) {
  const field = byId("link-text");
  field.hidden = false;
  field.value = link;
  field.select();
  try {
    await navigator.clipboard.writeText(field.value);
    say("Copied the link.");
  } catch {
    say("The browser lets the page copy nothing: copy the link out of its field.");
  }
}

/** A link that also says what the page sees in the picture on the stage; see proof.js. */
async function copyProof() {
  try {
    await copyLink(`${presentLink()}&proof=${await presentProof()}`);
  } catch (error) {
    say(sentence(/** @type {Error} */ (error).message), true);
  }
}

/** Take the settings of the address; a model has to be there. */
export async function applyLink() {
  const { settings, bad } = readSettings(givenAddress(), demo.info?.names ?? []);
  const { count, line, off, backend, threads, far } = settings;
  const present = demo.info?.threads;
  if (threads && threads !== present) {
    bad.push(`threads=${threads} (it has ${present}; more need the headers that serve_demo sends)`);
  }
  if (far && !hasFar()) bad.push("far=1 (the page has its model for one size of input alone)");
  if (!takeProof(givenAddress().get("proof"))) bad.push("proof (it is cut off or damaged)");
  moveSliders(settings);
  if (off) setClassesOff(off);
  if (count !== undefined || line) setCounting(count ?? true, line ?? null);
  byId("link-note").hidden = bad.length === 0;
  setText(byId("link-note"), `Left out of the link's settings: ${bad.map(isolate).join("; ")}.`);
  const otherRange = model.current?.builtin && hasFar() && far !== undefined;
  if (otherRange && far !== model.current?.far) await loadModel(builtinModel(far), backend);
  else if (backend && backend !== byId("backend").value) await chooseBackend(backend);
  else if (Object.keys(settings).length) await rerun();
  await compareProof();
}

export function wireLink() {
  byId("link-copy").addEventListener("click", () => attempt(() => copyLink(presentLink())));
  byId("proof-copy").addEventListener("click", () => attempt(copyProof));
  // A link to the page that is open already.
  window.addEventListener("hashchange", () => demo.info && attempt(applyLink));
}
