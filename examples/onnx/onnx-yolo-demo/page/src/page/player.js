/** The row below a video: its position, which can be changed, and one frame back. */
import { byId } from "./environment.js";
import { openSource, seek } from "./loop.js";
import { attempt } from "./status.js";
import { clock, setText } from "./text.js";

const video = byId("feed", "video");

/** Show where the video is. A film that was recorded by a browser tells its length only at its end. */
export function showPosition() {
  byId("player", "fieldset").hidden = openSource()?.kind !== "video";
  const { currentTime, duration } = video;
  const known = Number.isFinite(duration);
  const slider = byId("position");
  slider.disabled = !known;
  slider.max = String(known ? duration : 1);
  slider.value = String(known ? currentTime : 0);
  const text = known ? `${clock(currentTime)} / ${clock(duration)}` : clock(currentTime);
  slider.setAttribute("aria-valuetext", text);
  setText(byId("position-text"), text);
}

export function wirePlayer() {
  byId("position").addEventListener("input", () => {
    attempt(() => seek(Number(byId("position").value)));
  });
  for (const event of ["durationchange", "seeked", "timeupdate"]) {
    video.addEventListener(event, showPosition);
  }
}

// ------------------------------------------------------------------------ full screen

/** The stage with its controls fills the screen, or does not any more. */
export async function toggleFullScreen() {
  if (document.fullscreenElement) await document.exitFullscreen();
  else if (document.fullscreenEnabled) await byId("view", "div").requestFullscreen();
}

/** Offer it, where the browser gives it to pages. */
export function wireFullScreen() {
  const button = byId("full-screen", "button");
  button.hidden = !document.fullscreenEnabled;
  document.addEventListener("fullscreenchange", () => {
    const label = document.fullscreenElement ? "Leave full screen" : "Full screen";
    button.setAttribute("aria-label", label);
  });
}
