/** Several pictures at once: the strip of them, one after the other, and all that is found as one file. */
import { detector } from "../onnx.js";
import { turnedPicture } from "../turned.js";
import {
  byId,
  check,
  choose,
  demo,
  drop,
  file,
  paste,
  picture,
  press,
  ready,
  saved,
  scenarios,
  screen,
  status,
  until,
  watchDownloads,
} from "./helpers.js";

const strip = () => [...byId("strip").children];
const pressed = () => strip().findIndex((one) => one.getAttribute("aria-pressed") === "true");
const shown = (title) => until(() => demo().last?.title === title, title);

/** Pictures of these names, each of another size. */
const pictures = (...names) =>
  Promise.all(names.map((name, k) => picture("navy", `${name}.png`, 64 + 2 * k, 32)));

/** Save what is found in all pictures, and read the file. */
async function saveAll(format) {
  saved.blob = null;
  press(`save-all-${format}`);
  await until(() => saved.blob, "the file");
  await until(() => demo().state === "ready", "the end");
  return saved.blob.text();
}

scenarios({
  async "WebP pictures are upright, as their EXIF data turn them"() {
    const places = [
      [21, 20],
      [75, 20],
      [75, 44],
      [21, 44],
      [20, 21],
      [44, 21],
      [44, 75],
      [20, 75],
    ];
    for (const [k, [x, y]] of places.entries()) {
      const name = `${k + 1}.webp`;
      choose("image-file", file(turnedPicture(k + 1), name, "image/webp"));
      await shown(name);
      const { width, height, detections } = demo().last;
      check(`${width},${height}` === (k < 4 ? "96,64" : "64,96"), `${name}: ${width} x ${height}`);
      const [{ x1, y1, x2, y2 }] = detections;
      const off = Math.hypot((x1 + x2) / 2 - x, (y1 + y2) / 2 - y);
      check(off < 4, `${name}: the square is ${off} pixels off`);
    }
    const { left, top } = byId("sees").getBoundingClientRect();
    check(byId("sees").textContent === "1 green thing", byId("sees").textContent);
    check(document.elementFromPoint(left + 4, top + 4) === byId("sees"), "it is on the picture");
    press("album-clear");
  },

  async "pictures are opened, dropped and pasted, and shown one after the other"() {
    choose("image-file", ...(await pictures("a", "b", "c")));
    await shown("a.png");
    check(!byId("album").hidden && strip().length === 3 && pressed() === 0, "the strip");
    press("picture-next");
    await shown("b.png");
    const key = (name) =>
      document.body.dispatchEvent(new KeyboardEvent("keydown", { key: name, bubbles: true }));
    key("n");
    await shown("c.png");
    key("n"); // the first one comes after the last one
    await shown("a.png");
    press("picture-back");
    await shown("c.png");
    strip()[1].click();
    await shown("b.png");
    check(pressed() === 1, "it is marked");
    drop(await pictures("d", "e"));
    await shown("d.png");
    paste(await pictures("f", "g"));
    await shown("f.png");
    check(strip().length === 7 && pressed() === 5, `${strip().length} pictures, at ${pressed()}`);
    check(byId("album-text").textContent === "6 of 7 pictures", byId("album-text").textContent);
    const small = document.createElement("canvas");
    const context = small.getContext("2d", { willReadFrequently: true });
    context.globalCompositeOperation = "copy";
    const isDrawn = ({ firstChild }) => {
      context.drawImage(firstChild, -64, -48);
      return context.getImageData(0, 0, 1, 1).data[3] === 255;
    };
    await until(() => strip().every(isDrawn), "the small pictures");
    const total = Object.values(demo().last.times).reduce((sum, ms) => sum + ms, 0);
    check(byId("frame-ms").textContent === total.toFixed(0), "the milliseconds of this picture");
    check(byId("frame-unit").textContent === "ms for this picture", "they are called so");
    /** @type {HTMLElement} */ (document.querySelector("[data-sample='1']")).click();
    await until(() => demo().last.title.startsWith("Sample"), "the sample");
    check(pressed() === -1, "none of them is shown");
  },

  async "one that does not open is marked, and named when it is shown; the others go on"() {
    press("album-clear");
    check(byId("album").hidden && strip().length === 0, "the strip is gone");
    const broken = file("no picture", "broken.png", "image/png");
    const [first, last] = await pictures("first", "last");
    choose("image-file", first, broken, last);
    await shown("first.png");
    await until(() => strip()[1].classList.contains("broken"), "the mark");
    press("picture-next");
    check((await screen("file-broken")).includes("broken.png"), "it is named");
    press("picture-next");
    await shown("last.png");
    check(demo().screen === null, "the message is gone");
  },

  async "what is found in all of them is one file: JSON, CSV or COCO"() {
    watchDownloads();
    choose("model-file", file(detector(), "fixed.onnx")); // a box in the middle of any picture
    await ready("fixed.onnx");
    choose("image-file", await picture("navy", "large.png", 7000, 3500)); // is kept smaller
    await until(() => demo().last.title.startsWith("large.png, made smaller"), "the large one");
    const { model, thresholds, notOpened, pictures: seen } = JSON.parse(await saveAll("json"));
    const { confidence } = thresholds;
    check(model.name === "fixed.onnx" && confidence["green thing"] === 0.25, "how they were seen");
    check(notOpened.join() === "broken.png", "what is missing is named");
    check(status().includes("3 detections in 3 pictures. Not opened: broken.png."), status());
    check(seen.map((one) => one.title).join() === "first.png,last.png,large.png", "all others");
    const [{ x1, x2 }] = seen[2].detections;
    check(seen[2].width === 7000, "in pixels of the file");
    check(Math.abs(x1 - 7000 * (10 / 32)) < 9 && Math.abs(x2 - 7000 * (22 / 32)) < 9, `${x1}`);
    const rows = (await saveAll("csv")).split("\r\n");
    check(rows.length === 5 && rows[1].startsWith("first.png,64,32,green thing,0.9"), rows[1]);
    check(saved.name.endsWith(".csv"), saved.name);
    const { images, annotations, categories } = JSON.parse(await saveAll("coco"));
    check(images.length === 3 && annotations.length === 3 && categories.length === 2, "COCO");
    check(/^coco-.*\.json$/.test(saved.name), saved.name);
  },

  async "the file of all can be stopped, and then nothing is saved"() {
    saved.blob = null;
    const { title } = demo().last;
    press("save-all-json");
    check(demo().state === "saving" && byId("start").disabled, "it is at it");
    press("stop");
    await until(() => demo().state === "ready", "the end");
    check(status() === "Stopped; nothing was saved." && saved.blob === null, status());
    check(demo().last.title === title, "the stage shows what it did");
    press("album-clear");
  },
});
