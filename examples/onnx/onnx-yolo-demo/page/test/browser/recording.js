/** Recording the stage: what is in the file, and what ends it. */
import {
  byId,
  check,
  choose,
  demo,
  file,
  framesAfter,
  picture,
  press,
  record,
  saved,
  scenarios,
  scene,
  sleep,
  status,
  until,
  watchDownloads,
} from "./helpers.js";

/** The size, and a pixel in the middle of the last frame. */
async function look(blob) {
  const video = document.createElement("video");
  video.muted = true;
  video.src = URL.createObjectURL(blob);
  await new Promise((resolve, reject) => {
    video.onended = resolve;
    video.onerror = () => reject(new Error("the recording cannot be played"));
    video.play().catch(reject);
  });
  const bitmap = await createImageBitmap(video);
  const context = new OffscreenCanvas(bitmap.width, bitmap.height).getContext("2d");
  context.drawImage(bitmap, 0, 0);
  const pixel = context.getImageData(bitmap.width / 2, bitmap.height / 2, 1, 1).data;
  return { width: bitmap.width, height: bitmap.height, pixel };
}

scenarios({
  async "a film is recorded until its end, in the size of the stage"() {
    watchDownloads();
    const { stream, end } = scene();
    const film = await record(stream, 1200);
    end();
    await framesAfter(() => choose("video-file", file(film, "film.webm", "video/webm")));
    press("record");
    check(byId("record-text").textContent === "Save video", "the button says what it does");
    check(!byId("record-badge").hidden, "it is seen that it records");
    await until(() => saved.blob, "the file");
    check(/^detections-\d{4}-\d\d-\d\dT[\d-]+\.(mp4|webm)$/.test(saved.name), saved.name);
    const { width, height } = await look(saved.blob);
    const stage = /** @type {HTMLCanvasElement} */ (byId("stage"));
    check(width === stage.width && height === stage.height, `it has ${width} × ${height}`);
    check(byId("record-badge").hidden, "it is over");
    check(/Saved the recording|Stopped/.test(status()), status());
  },

  async "a picture of another size ends it; what was recorded is saved"() {
    saved.blob = null;
    choose("image-file", await picture("rgb(200, 40, 40)", "red.png", 640, 480));
    await until(() => demo().last.title === "red.png", "the picture");
    press("record");
    await sleep(300);
    choose("image-file", await picture("black", "dark.png", 100, 300));
    await until(() => saved.blob, "the file");
    const { pixel } = await look(saved.blob);
    check(Math.abs(pixel[0] - 200) < 20 && pixel[1] < 70, `its colour is ${pixel}`);
  },
});
