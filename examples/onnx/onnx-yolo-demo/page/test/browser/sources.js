/** Videos and cameras: playing, what is damaged or sends nothing, and a page that nobody sees. */

import { detector } from "../onnx.js";
import { turnedFilm } from "../turned.js";
import {
  byId,
  check,
  choose,
  demo,
  drop,
  file,
  framesAfter,
  picture,
  press,
  ready,
  record,
  scenarios,
  scene,
  screen,
  sleep,
  status,
  until,
} from "./helpers.js";

const video = () => /** @type {HTMLVideoElement} */ (byId("feed"));

let film = new Blob();

/** Let the page have this stream as its camera. */
function pretendCamera(stream) {
  navigator.mediaDevices.getUserMedia = () => Promise.resolve(stream);
}

function pretendHidden(hidden) {
  Object.defineProperty(document, "hidden", { value: hidden, configurable: true });
  document.dispatchEvent(new Event("visibilitychange"));
}

/** Drag the slider of a video's position. */
function dragTo(seconds) {
  const slider = /** @type {HTMLInputElement} */ (byId("position"));
  slider.value = String(seconds);
  slider.dispatchEvent(new Event("input", { bubbles: true }));
}

/** How many pictures are drawn on canvases within some milliseconds. */
async function drawnWithin(ms) {
  const { prototype } = CanvasRenderingContext2D;
  const { drawImage } = prototype;
  let drawn = 0;
  prototype.drawImage = function (...given) {
    drawn += 1;
    return Reflect.apply(drawImage, this, given);
  };
  await sleep(ms);
  prototype.drawImage = drawImage;
  return drawn;
}

/** A picture is detected in, and takes a message's place. */
async function goesOn() {
  choose("image-file", await picture("navy", "after.png"));
  await until(() => !demo().screen && demo().last?.title === "after.png", "the picture");
}

scenarios({
  async "files that are no picture, and no video"() {
    for (const [id, broken] of [
      ["image-file", file("no picture".repeat(100), "drawing.png", "image/png")],
      ["video-file", file("no video".repeat(100), "film.mp4", "video/mp4")],
    ]) {
      choose(id, broken);
      check((await screen("file-broken")).includes(broken.name), "the file is named");
      await goesOn();
    }
  },

  async "where there is no WebGPU, there is a way back"() {
    const backend = /** @type {HTMLSelectElement} */ (byId("backend"));
    const wish = async () => {
      backend.value = "webgpu";
      backend.dispatchEvent(new Event("change", { bubbles: true }));
      check((await screen("no-webgpu")).includes("WebAssembly"), "it says what else there is");
    };
    await wish();
    await goesOn();
    await wish();
    /** @type {HTMLElement} */ (byId("message").querySelector("[data-action=use-wasm]")).click();
    await until(() => demo().ready && !demo().screen, "the model");
    check(demo().info.requested === "wasm", "WebAssembly was chosen");
    await goesOn();
  },

  async "of pictures chosen quickly the last one stays"() {
    for (const [index, colour] of ["navy", "lime", "teal"].entries()) {
      choose("image-file", await picture(colour, `quick${index}.png`, 40 + index, 30));
      await sleep(10 * index);
    }
    await until(() => demo().last?.title === "quick2.png" && demo().state === "ready", "the last");
    await sleep(200);
    const { title, width, height } = demo().last;
    check(title === "quick2.png" && width === 42 && height === 30, "it is still there");
  },

  async "a video plays, stops, steps and outlives a change of back end"() {
    const { stream, end } = scene();
    film = await record(stream, 1500);
    end();
    await framesAfter(() => choose("video-file", file(film, "film.webm", "video/webm")));
    const { title, mirrored, width, detections } = demo().last;
    check(title === "film.webm" && !mirrored && width === 320, "its frames are detected in");
    check(detections.length === 1, "the square is found");
    check(byId("start-text").textContent === "Play video", "the button says what it does");
    press("stop");
    await until(() => demo().state === "paused", "the stop");
    press("step");
    await until(() => status().includes("One frame of"), "the step");
    await framesAfter(() => press("start"));
    const backend = /** @type {HTMLSelectElement} */ (byId("backend"));
    backend.value = "wasm";
    await framesAfter(() => backend.dispatchEvent(new Event("change")));
    check(demo().info.requested === "wasm", "the back end has changed");
    check(!byId("camera-open").hidden, "there is a way to the camera");
    const { getUserMedia } = navigator.mediaDevices;
    const live = scene();
    pretendCamera(live.stream);
    await framesAfter(() => press("camera-open"));
    check(demo().last.title !== "film.webm" && byId("camera-open").hidden, "it is the camera");
    press("stop");
    live.end();
    navigator.mediaDevices.getUserMedia = getUserMedia;
    /** @type {HTMLElement} */ (document.querySelector("[data-sample='1']")).click();
    await until(() => demo().state === "ready", "the sample");
    check(byId("start-text").textContent === "Start camera", "the button says what it does");
  },

  async "films are upright, as their metadata turn them"() {
    const places = { 0: [21, 20], 90: [44, 21], 180: [75, 44], 270: [20, 75] };
    for (const [degrees, [x, y]] of Object.entries(places)) {
      const name = `${degrees}.mp4`;
      const turned = turnedFilm(/** @type {any} */ (Number(degrees)));
      choose("video-file", file(turned, name, "video/mp4"));
      await until(() => demo().last?.title === name, name);
      const { width, height, detections } = demo().last;
      const sides = degrees === "0" || degrees === "180" ? "96,64" : "64,96";
      check(`${width},${height}` === sides, `${degrees}: ${width} x ${height}`);
      const [{ x1, y1, x2, y2 }] = detections;
      const off = Math.hypot((x1 + x2) / 2 - x, (y1 + y2) / 2 - y);
      check(off < 4, `${degrees}: the square is ${off} pixels off`);
      press("stop");
      await until(() => demo().state === "paused", "the stop");
    }
  },

  async "a video's position is shown and changed, and it goes back by a frame"() {
    const position = /** @type {HTMLInputElement} */ (byId("position"));
    await framesAfter(() => choose("video-file", file(film, "film.webm", "video/webm")));
    check(!byId("player").hidden, "the row is there");
    await until(() => !position.disabled, "the film's length, which it tells at its end");
    const rate = /^[\d.]+ frames\/s, (as many as the video gives|limited by )/;
    await until(() => rate.test(byId("limit").textContent), "the rate, and what limits it");
    check(Number(byId("frame-ms").textContent) > 0, "milliseconds of a frame");
    check(byId("frame-unit").textContent === "ms a frame", "they are called so");
    for (const seconds of [0.7, 0]) await framesAfter(() => dragTo(seconds)); // it plays on
    check(byId("stop-text").textContent === "Pause", "the button says what it does");
    press("stop");
    await until(() => demo().state === "paused", "the pause");
    dragTo(0.3);
    dragTo(0.8); // of several the last one counts
    await until(() => status().includes("film.webm at 0:00"), "the frame there");
    check(Math.abs(video().currentTime - 0.8) < 0.01, `it is at ${video().currentTime}`);
    const before = demo().last;
    press("step-back");
    await until(() => demo().last !== before && status().includes("One frame of"), "a frame back");
    check(video().currentTime < 0.8 && video().currentTime > 0.5, `at ${video().currentTime}`);
    check(before.detections[0].x1 !== demo().last.detections[0].x1, "it is another frame");
    check(demo().state === "paused" && demo().screen === null, "it rests");
  },

  async "a camera that sends nothing behind its switch is said at once, and goes on"() {
    const { getUserMedia } = navigator.mediaDevices;
    const live = scene();
    pretendCamera(live.stream);
    const camera = [byId("start"), byId("camera-open")].find((one) => one.checkVisibility());
    choose("image-file", await picture("navy", "one.png"));
    await until(() => demo().last?.title === "one.png", "the picture");
    await framesAfter(() => camera.click());
    const [track] = live.stream.getVideoTracks();
    const mute = (muted) => {
      Object.defineProperty(track, "muted", { value: muted, configurable: true });
      track.dispatchEvent(new Event(muted ? "mute" : "unmute"));
    };
    mute(true);
    check(demo().screen === "no-camera" && status().includes("privacy switch"), "it is said");
    await sleep(300); // for a frame that is under way
    const { frames } = demo();
    await sleep(300);
    check(demo().frames === frames, "no frame of nothing is detected in");
    check(byId("detections-count").textContent === "", "and nothing is said to be found");
    mute(false);
    await until(() => demo().frames > frames + 2 && !demo().screen, "the frames");
    press("stop");
    live.end();
    navigator.mediaDevices.getUserMedia = getUserMedia;
  },

  async "the camera is one click away from everything"() {
    const { getUserMedia } = navigator.mediaDevices;
    const places = {
      "a sample": () => /** @type {any} */ (document.querySelector("[data-sample='1']")).click(),
      "a picture": async () => choose("image-file", await picture("navy", "one.png")),
      "a video": () => choose("video-file", file(film, "film.webm", "video/webm")),
      "a message": async () => {
        choose("image-file", file("?", "broken.png", "image/png"));
        await screen("file-broken");
      },
    };
    for (const [place, go] of Object.entries(places)) {
      const { frames } = demo();
      await go();
      if (place !== "a message") await until(() => demo().frames > frames, place);
      const live = scene();
      pretendCamera(live.stream);
      const buttons = ["start", "camera-open"].map(byId).filter((one) => one.checkVisibility());
      const [camera] = buttons.filter((one) => /camera/i.test(one.textContent));
      await framesAfter(() => camera.click());
      check(demo().last.title !== "film.webm" && demo().screen === null, `after ${place}`);
      check(byId("player").hidden, "there is no position");
      press("stop");
      live.end();
    }
    navigator.mediaDevices.getUserMedia = getUserMedia;
  },

  async "a screen or window that the user chooses is a source, where the browser shares it"() {
    const live = scene();
    const [track] = live.stream.getVideoTracks();
    const chosen = [() => Promise.reject(new DOMException("", "NotAllowedError"))];
    chosen.push(() => Promise.resolve(live.stream));
    navigator.mediaDevices.getDisplayMedia = () => chosen.shift()();
    choose("image-file", await picture("navy", "one.png")); // the buttons follow what there is
    await until(() => demo().last?.title === "one.png", "the picture");
    check(byId("screen-open").checkVisibility(), "it is offered");
    press("screen-open");
    check((await screen("no-screen")).includes("None was chosen"), "a refusal is said");
    await framesAfter(() => byId("message").querySelector("[data-action=retry-screen]").click());
    const { mirrored, detections } = demo().last;
    check(!mirrored && detections.length === 1 && demo().screen === null, "it is detected in");
    check(!byId("live-badge").hidden && byId("screen-open").hidden, "that is shown");
    check(!byId("camera-open").hidden, "there is a way to the camera");
    pretendHidden(true); // the user goes to what is shared
    check(demo().state === "running" && track.readyState === "live", "it stays shared");
    await framesAfter(() => pretendHidden(false));
    press("stop");
    check(track.readyState === "ended", "it is given back");
    check(status() === "Stopped; nothing is shared any more.", status());
    const other = scene();
    chosen.push(() => Promise.resolve(other.stream));
    await framesAfter(() => press("screen-open"));
    other.stream.getVideoTracks()[0].dispatchEvent(new Event("ended")); // by the browser's button
    check(demo().state === "paused" && demo().screen === null, "it ends without a message");
    delete navigator.mediaDevices.getDisplayMedia;
    live.end();
    other.end();
  },

  async "a video that nobody sees rests, and goes on"() {
    await framesAfter(() => choose("video-file", file(film, "film.webm", "video/webm")));
    pretendHidden(true);
    await until(() => video().paused && demo().state !== "running", "the rest");
    const { frames } = demo();
    await sleep(300);
    check(demo().frames <= frames + 1, "nothing is detected");
    await framesAfter(() => pretendHidden(false));
  },

  async "a video that is damaged in its middle ends with a message"() {
    const mp4 = MediaRecorder.isTypeSupported("video/mp4;codecs=vp9"); // not in Firefox
    for (const kind of mp4 ? ["mp4", "webm"] : ["webm"]) {
      const { stream, end } = scene();
      const whole = await record(stream, 2500, `video/${kind}${mp4 ? ";codecs=vp9" : ""}`);
      end();
      const bytes = new Uint8Array(await whole.arrayBuffer());
      bytes.fill(0xff, Math.floor(bytes.length * 0.4), Math.floor(bytes.length * 0.7));
      choose("video-file", file(bytes, `damaged.${kind}`, `video/${kind}`));
      check((await screen("file-broken")).includes(`damaged.${kind}`), "it names the file");
      check(demo().state === "error", "it does not run");
      await goesOn();
    }
  },

  async "sound alone is no video"() {
    const audio = new AudioContext();
    const tone = audio.createOscillator();
    const out = audio.createMediaStreamDestination();
    tone.connect(out);
    tone.start();
    const sound = await record(out.stream, 400, "audio/webm");
    choose("video-file", file(sound, "sound.webm", "video/webm"));
    check(
      (await screen("file-broken")).includes("sound.webm has sound and no pictures"),
      "it says so",
    );
  },

  async "a camera is off while nobody sees the page, and on again afterwards"() {
    const first = scene();
    pretendCamera(first.stream);
    await framesAfter(() => press("start"));
    check((await drawnWithin(1000)) > 0, "its frames are drawn");
    const second = scene();
    pretendCamera(second.stream);
    pretendHidden(true);
    check(first.stream.getTracks()[0].readyState === "ended", "its light is out");
    check(demo().state === "paused" && video().srcObject === null, "it rests");
    check((await drawnWithin(400)) === 0, "nothing is drawn");
    await framesAfter(() => pretendHidden(false));
    press("stop");
    pretendHidden(true);
    pretendHidden(false);
    await sleep(200);
    check(demo().state === "paused", "a camera that was stopped stays so");
    first.end();
    second.end();
  },

  async "of two cameras one opens; a picture chosen while it opens, or runs, ends it"() {
    const made = [];
    navigator.mediaDevices.getUserMedia = async () => {
      await sleep(40); // as a real one takes its time
      made.push(scene());
      return made.at(-1).stream;
    };
    await framesAfter(() => {
      press("start");
      press("start");
    });
    const live = made.filter(({ stream }) => stream.getTracks()[0].readyState === "live");
    check(live.length === 1, "one camera is on");
    for (const [index, delay] of [0, 30, 400].entries()) {
      press("start");
      await sleep(delay);
      choose("image-file", await picture("navy", `chosen${index}.png`));
      const shown = () => demo().last?.title === `chosen${index}.png`;
      await until(() => demo().state === "ready" && shown(), "the picture");
      await sleep(300);
      check(shown() && video().srcObject === null, "it stays");
    }
    for (const { end } of made) end();
  },

  async "a camera that stops sending, or never sends, ends with a message"() {
    const { stream, end } = scene();
    pretendCamera(stream);
    await framesAfter(() => press("start"));
    end();
    check((await screen("no-camera")).includes("sends no pictures"), "it says so");
    check(stream.getTracks()[0].readyState === "ended", "its light is out");
    const silent = document.createElement("canvas").captureStream(0);
    pretendCamera(silent);
    /** @type {HTMLElement} */ (byId("message").querySelector("button")).click();
    await until(() => !demo().screen, "the second try");
    check((await screen("no-camera")).includes("sends no pictures"), "it says so");
  },

  async "of several files a model and the pictures are taken, which it says"() {
    const pictures = await Promise.all(["a.png", "b.png"].map((name) => picture("black", name)));
    drop([...pictures, file(detector(), "m.onnx"), file("?", "readme.txt", "text/plain")]);
    await ready("m.onnx");
    await until(() => status().endsWith("Taken of 4 files: m.onnx and 2 pictures."), "the words");
    check(demo().last.title === "a.png", "the picture is seen");
  },
});
