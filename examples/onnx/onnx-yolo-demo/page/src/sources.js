"use strict";

/**
 * Where frames come from: pictures, the camera, video files.
 *
 * A live source has `kind`, `title`, `mirroredByDefault`, `start(onFrame)`, `pause()`, `grab()`,
 * `step()` and `close()`. Camera and video share the page's one hidden `<video>`.
 */
// biome-ignore lint/correctness/noUnusedVariables: the next scripts use it.
const demoSources = (() => {
  // Detectors look at some hundred pixels; a larger camera picture only costs time.
  const CAMERA_WISH = {
    width: { ideal: 640 },
    height: { ideal: 480 },
    frameRate: { ideal: 30 },
  };
  const DEFAULT_FRAME_SECONDS = 1 / 30;
  const FRAME_PATIENCE_MS = 2000;

  function failure(code, message, cause) {
    return Object.assign(new Error(message, { cause }), { code });
  }

  /**
   * Decode a picture file, turned upright as its EXIF orientation says.
   * @param {Blob} blob
   * @returns {Promise<ImageBitmap>}
   * @throws {Error} `.code` "file-broken".
   */
  async function decodePicture(blob) {
    try {
      return await createImageBitmap(blob, { imageOrientation: "from-image" });
    } catch (error) {
      const name = blob.name ? `The file ${blob.name}` : "This";
      throw failure("file-broken", `${name} is no picture this browser can decode.`, error);
    }
  }

  /**
   * Call `onFrame` for every new frame of a video.
   * @param {HTMLVideoElement} video
   * @param {() => void} onFrame
   * @returns {() => void} Stops the calls.
   */
  function watchFrames(video, onFrame) {
    return "requestVideoFrameCallback" in HTMLVideoElement.prototype
      ? watchByVideo(video, onFrame)
      : watchByScreen(video, onFrame);
  }

  function watchByVideo(video, onFrame) {
    let handle = 0;
    const next = () => {
      handle = video.requestVideoFrameCallback(() => {
        next();
        onFrame();
      });
    };
    next();
    return () => video.cancelVideoFrameCallback(handle);
  }

  function watchByScreen(video, onFrame) {
    let handle = 0;
    let seen = -1;
    const next = () => {
      handle = requestAnimationFrame(() => {
        next();
        if (video.readyState >= HTMLMediaElement.HAVE_CURRENT_DATA && video.currentTime !== seen) {
          seen = video.currentTime;
          onFrame();
        }
      });
    };
    next();
    return () => cancelAnimationFrame(handle);
  }

  /** Wait for one event of a video, for its error, or until patience ends. */
  function videoEvent(video, name, patience = 10000) {
    return new Promise((resolve, reject) => {
      const end = (settle, value) => {
        clearTimeout(timer);
        video.removeEventListener(name, good);
        video.removeEventListener("error", bad);
        settle(value);
      };
      const good = () => end(resolve);
      const bad = () => end(reject, new Error(video.error?.message || "the video has an error"));
      const timer = setTimeout(
        () => end(reject, new Error(`no "${name}" from the video within ${patience / 1000} s`)),
        patience,
      );
      video.addEventListener(name, good);
      video.addEventListener("error", bad);
    });
  }

  function emptyVideo(video) {
    video.pause();
    video.srcObject = null;
    video.removeAttribute("src");
    video.load();
  }

  /** What the camera and video files have in common. */
  class LiveSource {
    #unwatch = null;

    constructor(video, kind, title) {
      this.video = video;
      this.kind = kind;
      this.title = title;
      this.mirroredByDefault = false;
    }

    /** @param {() => void} onFrame Called whenever a newer frame can be grabbed. */
    async start(onFrame) {
      this.#unwatch?.();
      this.#unwatch = watchFrames(this.video, onFrame);
      await this.video.play();
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

    /** The page's video is left alone where a source that was opened later has it by now. */
    close() {
      this.pause();
      if (this.hasVideo) emptyVideo(this.video);
    }
  }

  /** A camera; its light is on from `open` until `close`. */
  class CameraSource extends LiveSource {
    constructor(video, stream) {
      const track = stream.getVideoTracks()[0];
      super(video, "camera", track.label || "camera");
      const settings = track.getSettings();
      this.stream = stream;
      this.deviceId = settings.deviceId || "";
      this.mirroredByDefault = looksAtTheUser(settings.facingMode, track.label);
      /** Called when the camera is unplugged or taken away. */
      this.onEnded = null;
      track.addEventListener("ended", () => this.onEnded?.());
    }

    /**
     * Ask for permission and open a camera.
     * @param {HTMLVideoElement} video
     * @param {string} deviceId "" for the browser's choice.
     * @param {() => boolean} isWanted Whether nothing else was opened in the meantime.
     * @returns {Promise<CameraSource|null>} Null if it is not wanted any more; it is closed then.
     * @throws {Error} `.code` "camera-refused" or "no-camera".
     */
    static async open(video, deviceId, isWanted) {
      let stream = null;
      try {
        stream = await cameraStream(deviceId);
        if (isWanted()) await showStream(video, stream);
      } catch (error) {
        if (stream) stopTracks(stream);
        if (!isWanted()) return null;
        throw error;
      }
      const camera = new CameraSource(video, stream);
      if (isWanted()) return camera;
      camera.close();
      return null;
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
          resolve();
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
      this.onEnded = null;
      stopTracks(this.stream);
      super.close();
    }
  }

  async function showStream(video, stream) {
    try {
      video.loop = false;
      video.removeAttribute("src");
      video.srcObject = stream;
      await video.play();
    } catch (error) {
      throw failure("no-camera", `The camera gives no picture: ${error.message}`, error);
    }
  }

  /** A video file, played in a loop. */
  class VideoSource extends LiveSource {
    constructor(video, title, url) {
      super(video, "video", title);
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
        video.loop = true;
        video.srcObject = null; // a camera's would go before the file
        video.src = url;
        await loaded;
        return new VideoSource(video, file.name || "video", url);
      } catch (error) {
        if (video.src === url) emptyVideo(video);
        URL.revokeObjectURL(url);
        const name = file.name ? `The file ${file.name}` : "This";
        throw failure("file-broken", `${name} is no video this browser can play.`, error);
      }
    }

    get hasVideo() {
      return this.video.src === this.url;
    }

    pause() {
      super.pause();
      if (this.hasVideo) this.video.pause();
    }

    /** Go to the next frame; after the last one comes the first. */
    async step() {
      this.pause();
      const next = this.video.currentTime + DEFAULT_FRAME_SECONDS;
      const sought = videoEvent(this.video, "seeked");
      this.video.currentTime = next < this.video.duration ? next : 0;
      await sought;
    }

    close() {
      super.close();
      URL.revokeObjectURL(this.url);
    }
  }

  function stopTracks(stream) {
    for (const track of stream.getTracks()) track.stop();
  }

  // Many laptop cameras report no facing mode; nearly all of them face their user.
  function looksAtTheUser(facingMode, label) {
    if (facingMode) return facingMode === "user";
    return !/back|rear|environment|capture|virtual/i.test(label);
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
      if (error.name === "OverconstrainedError" && deviceId) return cameraStream("");
      throw cameraFailure(error);
    }
  }

  function cameraFailure(error) {
    if (error.name === "NotAllowedError" || error.name === "SecurityError") {
      return failure("camera-refused", "The browser did not allow the camera.", error);
    }
    if (error.name === "NotReadableError" || error.name === "AbortError") {
      return failure("no-camera", "The camera is there, but another program uses it.", error);
    }
    if (error.name === "NotFoundError" || error.name === "OverconstrainedError") {
      return failure("no-camera", "No camera is connected to this device.", error);
    }
    return failure("no-camera", `The camera did not open: ${error.message}`, error);
  }

  /** @returns {Promise<{deviceId: string, label: string}[]>} Cameras; labels need permission. */
  async function listCameras() {
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
  function fileKind(file) {
    if (/\.onnx$/i.test(file.name || "")) return "model";
    if (file.type.startsWith("image/")) return "picture";
    if (file.type.startsWith("video/")) return "video";
    return "";
  }

  return { CameraSource, VideoSource, decodePicture, listCameras, fileKind };
})();
