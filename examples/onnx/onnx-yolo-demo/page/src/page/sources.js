/**
 * Where frames come from: pictures, the camera, a screen or window, video files.
 *
 * A live source has `kind`, `title`, `mirroredByDefault`, `start(onFrame, onBroken)`, `pause()`,
 * `grab()`, `step()` and `close()`. All share the page's one hidden `<video>`.
 */
import { failure } from "../worker/failure.js";
import { missingTurn, turned } from "./upright.js";
import { isWhole } from "./webm.js";

// Detectors look at some hundred pixels; a larger camera picture only costs time.
const CAMERA_WISH = {
  width: { ideal: 640 },
  height: { ideal: 480 },
  frameRate: { ideal: 30 },
};
// A tab that shows this page would show itself within itself.
const SCREEN_WISH = {
  video: { width: { max: 1920 }, height: { max: 1920 }, frameRate: { ideal: 15 } },
  selfBrowserSurface: "exclude",
};
const REFUSED = ["camera-refused", "The browser did not allow the camera."];
const IN_USE = ["no-camera", "The camera is there, but another program uses it."];
const SENDS_NOTHING =
  "The camera is there, but sends no pictures. It may be switched off or covered by a slide, or " +
  "another program may hold it.";
const MUTED =
  "The camera sends nothing now: its privacy switch or slide is on, or the system has muted it. " +
  "The page goes on when pictures come again.";
const SCREEN_HIDDEN =
  "The screen or window sends nothing now: it may be minimized. " +
  "The page goes on when pictures come again.";
const ABSENT = ["no-camera", "No camera is connected to this device."];
/** What the names of the browser's errors mean. */
const CAMERA_FAILURES = {
  NotAllowedError: REFUSED,
  SecurityError: REFUSED,
  NotReadableError: IN_USE,
  AbortError: IN_USE,
  NotFoundError: ABSENT,
  OverconstrainedError: ABSENT,
};
const USUAL_FRAME_SECONDS = 1 / 30; // until a video tells its own
const KNOWN_FRAMES = 30; // by which it tells
const FRAME_PATIENCE_MS = 2000;
const STALLED_MS = 5000; // without a new frame something is broken
const OPENING_MS = 10000;
const MISSING_SECONDS = 1; // so much earlier than its duration a whole film may end

// Pixels of a picture: those that are kept, four bytes each, in several copies; and those that the
// browser has to decode at once, which are as many as Pillow takes.
const MAX_KEPT = 24e6;
const MAX_DECODED = 178_956_970;
const LONGEST = 16384; // side of a canvas

/**
 * The sides that a picture is kept at: its own, or smaller ones of the same proportions.
 * @param {number} width
 * @param {number} height
 * @param {number} [most] Pixels.
 * @returns {{width: number, height: number}}
 */
export function keptSize(width, height, most = MAX_KEPT) {
  const ratio = Math.min(Math.sqrt(most / (width * height)), LONGEST / width, LONGEST / height, 1);
  const side = (length) => Math.max(Math.floor(length * ratio), 1);
  return { width: side(width), height: side(height) };
}

/** The sides of an upright picture, which for most kinds of files takes no decoding. */
async function measure(blob) {
  const image = new Image();
  image.src = URL.createObjectURL(blob);
  try {
    await new Promise((resolve, reject) => {
      image.onload = resolve;
      image.onerror = () => reject(new Error("it cannot be read"));
    });
    return { width: image.naturalWidth, height: image.naturalHeight };
  } finally {
    URL.revokeObjectURL(image.src);
  }
}

/**
 * Decode a picture file, turned upright as its EXIF orientation says.
 * @param {(Blob & {name?: string})|ImageBitmap} picture
 * @param {number} [most] Pixels; larger pictures are made smaller.
 * @returns {Promise<{bitmap: ImageBitmap, note: string, width: number, height: number}>} Its own
 *   width and height; the note tells, if it was made smaller, from which size.
 * @throws {Error} `.code` "file-broken".
 */
export async function decodePicture(picture, most = MAX_KEPT) {
  if (picture instanceof ImageBitmap) {
    const { width, height } = picture;
    return { bitmap: await createImageBitmap(picture), note: "", width, height };
  }
  const name = picture.name ? `The file ${picture.name}` : "This";
  const options = /** @type {ImageBitmapOptions} */ ({ imageOrientation: "from-image" });
  let note = "";
  try {
    const { width, height } = await measure(picture);
    if (width * height > MAX_DECODED) {
      const size = `${width} × ${height} pixels, more than ${Math.floor(MAX_DECODED / 1e6)} million`;
      throw failure("file-broken", `${name} has ${size}; make it smaller.`);
    }
    const kept = keptSize(width, height, most);
    if (kept.width < width) {
      const sides = { resizeWidth: kept.width, resizeHeight: kept.height };
      Object.assign(options, sides, { resizeQuality: "high" });
      note = `made smaller from ${width} × ${height}`;
    }
    const orientation = await missingTurn(picture);
    const bitmap = turned(await createImageBitmap(picture, options), orientation);
    const [across, down] = orientation > 4 ? [height, width] : [width, height];
    return { bitmap, note, width: across, height: down };
  } catch (error) {
    if (/** @type {{code?: unknown}} */ (error).code === "file-broken") throw error;
    const why = undecodable(picture) || "is no picture this browser can decode";
    throw failure("file-broken", `${name} ${why}.`, error);
  }
}

/** What kind of file few browsers decode, and what helps; "" of others. */
export function undecodable({ name = "", type = "" }) {
  if (/\.hei[cf]$/i.test(name) || /^image\/hei[cf]/.test(type)) {
    return (
      "is in HEIC, which this browser cannot decode: save it as JPEG (iPhones take JPEG by " +
      "Settings, Camera, Formats, Most Compatible), or open the page in Safari"
    );
  }
  if (/\.tiff?$/i.test(name) || type === "image/tiff") {
    return "is a TIFF, which this browser cannot decode: save it as PNG or JPEG";
  }
  return "";
}

/**
 * Call `onFrame` for every new frame of a video.
 * @param {HTMLVideoElement} video
 * @param {(about: VideoFrameCallbackMetadata) => void} onFrame
 * @returns {() => void} Stops the calls.
 */
function watchFrames(video, onFrame) {
  let handle = 0;
  const next = () => {
    handle = video.requestVideoFrameCallback((_, about) => {
      next();
      onFrame(about);
    });
  };
  next();
  return () => video.cancelVideoFrameCallback(handle);
}

/**
 * Call `onStalled` once if for long a video shows no new frame, nor comes on in another way.
 * @param {HTMLVideoElement} video
 * @param {() => unknown} progress What changes as long as all is well.
 * @param {() => void} onStalled
 * @returns {() => void} Ends the watch.
 */
function watchProgress(video, progress, onStalled) {
  let [last, since] = [progress(), performance.now()];
  const timer = setInterval(() => {
    const now = progress();
    // Browsers show no frames of what nobody sees.
    if (now !== last || video.paused || document.hidden) {
      [last, since] = [now, performance.now()];
    } else if (performance.now() - since > STALLED_MS) {
      clearInterval(timer);
      onStalled();
    }
  }, STALLED_MS / 10);
  return () => clearInterval(timer);
}

/** Wait for one event of a video; its error, or ten seconds without either, end the waiting. */
function videoEvent(video, name) {
  return new Promise((resolve, reject) => {
    const signal = AbortSignal.timeout(OPENING_MS);
    const failed = () => reject(new Error(video.error?.message || "the video has an error"));
    video.addEventListener(name, resolve, { once: true, signal });
    video.addEventListener("error", failed, { once: true, signal });
    signal.addEventListener("abort", () => reject(new Error(`no "${name}" from the video`)));
  });
}

function emptyVideo(video) {
  video.pause();
  video.srcObject = null;
  video.removeAttribute("src");
  video.load();
}

/** What all live sources have in common. */
class LiveSource {
  /** @type {(() => void)|null} */
  #unwatch = null;

  constructor(video, kind, title) {
    this.video = video;
    this.kind = kind;
    this.title = title;
    this.mirroredByDefault = false;
    this.frameTime = 0; // of the last frame, in seconds of the film or the camera
  }

  /**
   * @param {() => void} onFrame Called whenever a newer frame can be grabbed.
   * @param {(error: Error) => void} onBroken Called when no more frames will come.
   */
  async start(onFrame, onBroken) {
    this.#unwatch?.();
    const { video } = this;
    let frames = 0;
    const stopFrames = watchFrames(video, (about) => {
      frames += 1;
      this.noteFrame(about);
      if (!this.isMuted) onFrame(); // else it is black
    });
    const fail = () => onBroken(this.describeFailure());
    video.addEventListener("error", fail);
    // A film may show one picture for long, and so may a screen; a camera may not.
    const progress = () => {
      if (this.isMuted || this.kind === "screen") return performance.now(); // the former is said
      return this.kind === "video" ? `${frames} ${video.currentTime}` : frames;
    };
    const stopWatch = watchProgress(video, progress, fail);
    this.#unwatch = () => {
      stopFrames();
      stopWatch();
      video.removeEventListener("error", fail);
    };
    await video.play();
  }

  /** @param {VideoFrameCallbackMetadata} about A frame that is there now. */
  noteFrame({ mediaTime }) {
    this.frameTime = mediaTime;
  }

  /** @returns {Error} Why no more frames come. */
  describeFailure() {
    return new Error(`${this.title} gives no more pictures`);
  }

  /** Stop the calls of `onFrame`; the source stays open. */
  pause() {
    this.#unwatch?.();
    this.#unwatch = null;
  }

  /** @returns {Promise<ImageBitmap>} The newest frame; the caller closes it. */
  grab() {
    return createImageBitmap(this.video);
  }

  /** Whether a camera is there and sends nothing. */
  get isMuted() {
    return false;
  }

  /** Whether no source that was opened later has the page's video by now. */
  get hasVideo() {
    return false;
  }

  close() {
    this.pause();
    if (this.hasVideo) emptyVideo(this.video);
  }
}

/** A stream of pictures. */
class StreamSource extends LiveSource {
  constructor(video, kind, stream) {
    const track = stream.getVideoTracks()[0];
    super(video, kind, track.label || kind);
    this.stream = stream;
    this.silent = ["", ""]; // the screen, and its words, for a stream that sends nothing
    this.mutedText = "";
    /** @type {(() => void)|null} Called when the stream was taken away. */
    this.onEnded = null;
    /** @type {(() => void)|null} Called when `isMuted` has changed. */
    this.onMuted = null;
    // Firefox 153 calls no listeners of tracks when a script dispatches such an event.
    track.onended = () => this.onEnded?.();
    track.onmute = track.onunmute = () => this.onMuted?.();
  }

  /**
   * Show what was asked for.
   * @template {StreamSource} T
   * @param {() => Promise<T>} ask For permission.
   * @param {() => boolean} isWanted Whether nothing else was opened in the meantime.
   * @returns {Promise<T|null>} Null if it is not wanted any more; it is closed then.
   * @throws {Error} `.code` "camera-refused", "no-camera" or "no-screen".
   */
  static async open(ask, isWanted) {
    /** @type {T|null} */
    let source = null;
    try {
      source = await ask();
      if (isWanted()) await source.#show();
    } catch (error) {
      source?.close();
      if (isWanted()) throw error;
      return null;
    }
    if (isWanted()) return source;
    source.close();
    return null;
  }

  async #show() {
    const { video } = this;
    try {
      video.removeAttribute("src");
      video.srcObject = this.stream;
      // It may be there and send nothing.
      await Promise.all([videoEvent(video, "loadeddata"), video.play()]);
    } catch (error) {
      throw this.describeFailure(error);
    }
  }

  /** @param {unknown} [cause] */
  describeFailure(cause) {
    const [code, text] = this.silent;
    return failure(code, text, cause);
  }

  get isMuted() {
    return this.stream.getVideoTracks()[0].muted;
  }

  get hasVideo() {
    return this.video.srcObject === this.stream;
  }

  /** Wait for a new frame, or take the present one if none comes. */
  step() {
    return new Promise((resolve) => {
      let frames = 0;
      const finish = () => {
        unwatch();
        clearTimeout(timer);
        resolve(undefined);
      };
      const timer = setTimeout(finish, FRAME_PATIENCE_MS);
      // The first call may tell of a frame that was there before.
      const unwatch = watchFrames(this.video, () => {
        frames += 1;
        if (frames === 2) finish();
      });
    });
  }

  close() {
    this.onEnded = this.onMuted = null;
    for (const track of this.stream.getTracks()) track.stop();
    super.close();
  }
}

/** A camera; its light is on from `open` until `close`. */
export class CameraSource extends StreamSource {
  constructor(video, stream) {
    super(video, "camera", stream);
    const { label } = stream.getVideoTracks()[0];
    const settings = stream.getVideoTracks()[0].getSettings();
    this.silent = ["no-camera", SENDS_NOTHING];
    this.mutedText = MUTED;
    this.deviceId = settings.deviceId || "";
    this.mirroredByDefault = looksAtTheUser(settings.facingMode, label);
  }

  /** @param {HTMLVideoElement} video @param {string} deviceId "" for the browser's choice. */
  static async ask(video, deviceId) {
    return new CameraSource(video, await cameraStream(deviceId));
  }
}

/** A screen or window that the user has chosen. */
export class ScreenSource extends StreamSource {
  constructor(video, stream) {
    super(video, "screen", stream);
    this.silent = ["no-screen", "The screen or window is shared, but sends no pictures."];
    this.mutedText = SCREEN_HIDDEN;
  }

  /** Whether the browser shares screens. */
  static get isThere() {
    return Boolean(navigator.mediaDevices?.getDisplayMedia);
  }

  /** @param {HTMLVideoElement} video */
  static async ask(video) {
    try {
      return new ScreenSource(video, await navigator.mediaDevices.getDisplayMedia(SCREEN_WISH));
    } catch (error) {
      const { name, message } = /** @type {Error} */ (error);
      const refused = "None was chosen, or the system does not allow it.";
      const why = name === "NotAllowedError" ? refused : `None opened: ${message}`;
      throw failure("no-screen", why, error);
    }
  }
}

/** A video file. */
export class VideoSource extends LiveSource {
  #canvas = new OffscreenCanvas(1, 1);
  /** @type {AbortController|null} */
  #listening = null;
  /** @type {Promise<boolean>|null} */
  #whole = null;
  /** Since when it plays, and from where, in seconds of the film. */
  #played = { from: 0, since: 0 };
  #seeks = 0; // under way
  /** @type {number[]} */
  #lengths = []; // of the last frames, in seconds

  /** @param {HTMLVideoElement} video @param {File} file @param {string} url Of the file. */
  constructor(video, file, url) {
    super(video, "video", file.name || "video");
    this.file = file;
    this.url = url;
  }

  /**
   * @param {HTMLVideoElement} video
   * @param {File} file
   * @returns {Promise<VideoSource>} Paused on its first frame.
   * @throws {Error} `.code` "file-broken".
   */
  static async open(video, file) {
    const url = URL.createObjectURL(file);
    try {
      const loaded = videoEvent(video, "loadeddata");
      video.srcObject = null; // a camera's would go before the file
      video.src = url;
      await loaded;
      if (video.videoWidth === 0) throw failure("file-broken", "has sound and no pictures");
      return new VideoSource(video, file, url);
    } catch (error) {
      if (video.src === url) emptyVideo(video);
      URL.revokeObjectURL(url);
      const name = file.name ? `The file ${file.name}` : "This";
      const { code, message } = /** @type {Error & {code?: string}} */ (error);
      const why = code ? message : "is no video this browser can play";
      throw failure("file-broken", `${name} ${why}.`, error);
    }
  }

  /** Upright, as the film's metadata say: Firefox turns what it draws, and not its bitmaps. */
  async grab() {
    const { videoWidth: width, videoHeight: height } = this.video;
    if (this.#canvas.width !== width || this.#canvas.height !== height) {
      Object.assign(this.#canvas, { width, height });
    }
    const context = /** @type {OffscreenCanvasRenderingContext2D} */ (
      this.#canvas.getContext("2d")
    );
    context.drawImage(this.video, 0, 0);
    return this.#canvas.transferToImageBitmap();
  }

  describeFailure(seconds = this.video.currentTime) {
    const where = `from second ${seconds.toFixed(1)}`;
    const text = `The file ${this.title} cannot be played on ${where}: it is damaged there.`;
    return failure("file-broken", text);
  }

  /**
   * Play. Of a damaged film some browsers say nothing: it ends long before its time, or they take
   * the time for shorter.
   */
  async start(onFrame, onBroken) {
    const { video } = this;
    this.#playsFrom(video.currentTime);
    const look = async () => {
      if (this.#seeks) return; // somebody seeks, not the loop
      const { from, since } = this.#played;
      const end = from + (performance.now() - since) / 1000;
      this.#playsFrom(0);
      const missing = video.duration - end;
      const early = missing > MISSING_SECONDS && Number.isFinite(missing);
      this.#whole ??= isWhole(this.file);
      if (early || !(await this.#whole)) onBroken(this.describeFailure(end));
    };
    // A film in a loop seeks its beginning; one that is played once ends.
    this.#listening?.abort();
    this.#listening = new AbortController();
    for (const event of ["seeking", "ended"]) {
      video.addEventListener(event, look, { signal: this.#listening.signal });
    }
    await super.start(onFrame, onBroken);
  }

  get hasVideo() {
    return this.video.src === this.url;
  }

  pause() {
    super.pause();
    this.#listening?.abort();
    if (this.hasVideo) this.video.pause();
  }

  #playsFrom(seconds) {
    this.#played = { from: seconds, since: performance.now() };
  }

  /** Learn how long a frame is. @param {VideoFrameCallbackMetadata} about */
  noteFrame(about) {
    const length = about.mediaTime - this.frameTime;
    super.noteFrame(about);
    if (length > 0) this.#lengths = [...this.#lengths, length].slice(-KNOWN_FRAMES);
  }

  /** Seconds of a frame: browsers leave some out, and some films have frames of many lengths. */
  get #frameSeconds() {
    const sorted = this.#lengths.toSorted((a, b) => a - b);
    return sorted[Math.floor(sorted.length / 4)] ?? USUAL_FRAME_SECONDS;
  }

  /** Go to a time; a video that plays goes on from there. @param {number} seconds */
  async seek(seconds) {
    this.#seeks += 1;
    const sought = videoEvent(this.video, "seeked");
    this.video.currentTime = seconds;
    try {
      await sought;
    } catch {
      throw this.describeFailure();
    } finally {
      this.#seeks -= 1;
      this.#playsFrom(seconds);
    }
  }

  /** Go on by frames; after the last one comes the first. @param {number} [frames] -1: back. */
  async step(frames = 1) {
    this.pause();
    const next = this.video.currentTime + frames * this.#frameSeconds;
    await this.seek(next < this.video.duration ? Math.max(next, 0) : 0);
  }

  close() {
    super.close();
    URL.revokeObjectURL(this.url);
  }
}

// Many laptop cameras report no facing mode; nearly all of them face their user.
function looksAtTheUser(facingMode, label) {
  if (facingMode) return facingMode === "user";
  return !/back|rear|environment|capture|virtual/i.test(label);
}

/**
 * The camera to change to: the next one that faces the other way, as far as labels tell, or the next.
 * @param {{deviceId: string, label: string}[]} cameras At least two.
 * @param {string} deviceId Of the present one.
 */
export function otherCamera(cameras, deviceId) {
  const at = cameras.findIndex((camera) => camera.deviceId === deviceId);
  const others = [...cameras.slice(at + 1), ...cameras.slice(0, at)];
  const faces = ({ label }) => looksAtTheUser("", label);
  return others.find((camera) => faces(camera) !== faces(cameras[at])) ?? others[0];
}

async function cameraStream(deviceId) {
  if (!navigator.mediaDevices?.getUserMedia) {
    throw failure(
      "no-camera",
      "The browser gives cameras only to pages from disk, from localhost or by https.",
    );
  }
  const choice = deviceId ? { deviceId: { exact: deviceId } } : { facingMode: "user" };
  try {
    return await navigator.mediaDevices.getUserMedia({ video: { ...CAMERA_WISH, ...choice } });
  } catch (error) {
    const { name, message } = /** @type {Error} */ (error);
    if (name === "OverconstrainedError" && deviceId) return cameraStream("");
    const [code, text] = CAMERA_FAILURES[name] ?? [
      "no-camera",
      `The camera did not open: ${message}`,
    ];
    throw failure(code, text, error);
  }
}

/** @returns {Promise<{deviceId: string, label: string}[]>} Cameras; labels need permission. */
export async function listCameras() {
  if (!navigator.mediaDevices?.enumerateDevices) return [];
  const devices = await navigator.mediaDevices.enumerateDevices();
  return devices
    .filter((device) => device.kind === "videoinput" && device.deviceId)
    .map((device, index) => ({
      deviceId: device.deviceId,
      label: device.label || `Camera ${index + 1}`,
    }));
}

/**
 * What a dropped or pasted file is.
 * @param {File} file
 * @returns {"picture"|"video"|"model"|""} "" for anything else.
 */
export function fileKind(file) {
  if (/\.onnx$/i.test(file.name || "")) return "model";
  if (file.type.startsWith("image/") || undecodable(file)) return "picture";
  if (file.type.startsWith("video/")) return "video";
  return "";
}

/**
 * Which of several files to open: a model, and something to detect in.
 * @param {File[]} files
 * @returns {File[]} The first model; then all pictures, or one video, whichever comes first. Without
 *   any of these, the first file.
 */
export function filesToOpen(files) {
  const of = (kind) => files.filter((file) => fileKind(file) === kind);
  const isShown = (file) => ["picture", "video"].includes(fileKind(file));
  const first = files.find(isShown);
  const shown = first && fileKind(first) === "picture" ? of("picture") : of("video").slice(0, 1);
  const chosen = [...of("model").slice(0, 1), ...shown];
  return chosen.length ? chosen : files.slice(0, 1);
}
