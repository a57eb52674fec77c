/** The beginning: what the page gives to scripts, the first load, the first sample. */

import { hasAsset } from "./assets.js";
import { wireControls } from "./controls.js";
import { byId, missingFeatures, wantedBackend } from "./environment.js";
import { linkRepository } from "./licences.js";
import { applyLink } from "./link.js";
import { watchEnd, watchVisibility } from "./live.js";
import { loadBuiltin, loadFile } from "./loading.js";
import { prepareRuntime } from "./model.js";
import { keepOffline } from "./offline.js";
import { detectImage, fillSamples, previewSample } from "./pictures.js";
import { selfTestIfAsked } from "./selftest.js";
import { watchSize } from "./stage.js";
import {
  activity,
  attempt,
  demo,
  recordError,
  say,
  settle,
  settleReady,
  showScreen,
  watchErrors,
} from "./status.js";
import { openTeacher } from "./teach_loader.js";
import { startTheme } from "./theme.js";

const NEEDED_ASSETS = ["runtime-mjs", "runtime-wasm", "model", "model-graph", "model-info"];

/** Show why the page can't work here, if it can't. */
function showObstacle() {
  const lacking = missingFeatures();
  const missing = NEEDED_ASSETS.filter((name) => !hasAsset(name));
  if (lacking.length) {
    showScreen("no-script-support", { detail: `It lacks ${lacking.join(", ")}.` });
  } else if (missing.length) {
    showScreen("no-assets", { detail: `Missing: ${missing.join(", ")}.` });
  }
  return lacking.length + missing.length > 0;
}

async function begin() {
  if (showObstacle()) {
    byId("loading").hidden = true;
    return;
  }
  activity.usable = true;
  byId("samples-row").hidden = false;
  say("Loading…");
  settle();
  byId("backend").value = wantedBackend() || "auto";
  const samples = fillSamples().then(previewSample);
  await Promise.all([
    samples.catch((error) => recordError(`the samples do not open: ${error.message}`)),
    attempt(loadBuiltin),
  ]);
  activity.booting = false;
  settleReady();
  if (demo.info) await attempt(applyLink);
  await attempt(selfTestIfAsked);
  await linkRepository();
  await keepOffline();
}

byId("unbuilt").remove();
Object.assign(demo, { detectImage, loadModel: loadFile, openTeacher });
Object.assign(window, { demo });
watchErrors();
watchSize();
watchEnd();
watchVisibility();
startTheme();
wireControls();
settle();
// The scripts behind this one hold the assets, the runtime first.
if (wantedBackend() !== "webgpu" && !missingFeatures().length) prepareRuntime();
document.addEventListener("DOMContentLoaded", begin);
