/** Teaching: frames, boxes by pointer and by keys, names, a teacher that stands in, what is saved. */
import axe from "axe-core";
import { detector } from "../onnx.js";
import {
  byId,
  check,
  choose,
  demo,
  drop,
  file,
  picture,
  ready,
  saved,
  scenarios,
  screen,
  sleep,
  until,
  watchDownloads,
} from "./helpers.js";

const NAMES = ["green thing", "orange thing"];

/** A teacher that takes its steps by `next`, and then loads a model with one more class. */
async function standIn({ fails = false } = {}) {
  /** @type {any} */
  const made = { given: null, learned: [], stopped: false, next: () => {} };
  const load = (names, name) =>
    demo().loadModel(
      detector({ names, boxes: [[16, 16, 12, 12, 0.9, ...names.slice(1).map(() => 0)]] }),
      name,
    );
  Object.assign(await demo().openTeacher(), {
    available: () => made.reason ?? "",
    taught: () => made.learned,
    stop() {
      made.stopped = true;
      made.next();
    },
    async undo() {
      made.learned = [];
      await load(NAMES, "base.onnx");
    },
    async save() {
      return Uint8Array.of(1, 2, 3);
    },
    async teach(given) {
      Object.assign(made, { given, stopped: false });
      const { steps } = given;
      let step = 0;
      while (step < steps && !made.stopped) {
        await new Promise((resolve) => {
          made.next = resolve;
        });
        if (fails) throw new Error("no memory");
        step += 1;
        given.onStep({ step, steps, loss: 4 / step });
      }
      const labels = given.examples.flatMap(({ boxes }) => boxes.map(({ label }) => label));
      made.learned = [...new Set(labels)].filter((label) => !NAMES.includes(label));
      load([...NAMES, ...made.learned], "taught.onnx").catch(() => {});
      return { stopped: made.stopped, seconds: 2, steps: step, firstLoss: 4, lastLoss: 4 / step };
    },
  });
  return made;
}

const input = (id) => /** @type {HTMLInputElement} */ (byId(id));
const said = () => byId("teach-status").textContent;
const frames = () => [...byId("teach-frames").querySelectorAll(".teach-frame")];
const boxes = () => [...byId("teach-surface").querySelectorAll(".box")];
const selected = () => boxes().find((box) => box.getAttribute("aria-pressed") === "true");
const dead = (id) => input(id).disabled;

/** Pixels of the picture that a box's name tells: from the left, from the top, wide, high. */
const told = (box) =>
  box
    .getAttribute("aria-label")
    .match(/: (\d+) from.* (\d+) from.* (\d+) wide, (\d+) high/)
    .slice(1)
    .map(Number);

/** A drag over the picture, in its own pixels. */
function drag([x1, y1], [x2, y2], end = "pointerup") {
  const surface = byId("teach-surface");
  surface.setPointerCapture = () => {}; // scripts have no pointer to be captured
  const { left, top, width } = surface.getBoundingClientRect();
  const scale = width / surface.querySelector("canvas").width;
  const send = (type, x, y) =>
    surface.dispatchEvent(
      new PointerEvent(type, {
        bubbles: true,
        cancelable: true,
        clientX: left + x * scale,
        clientY: top + y * scale,
      }),
    );
  send("pointerdown", x1, y1);
  send("pointermove", (x1 + x2) / 2, (y1 + y2) / 2);
  send("pointermove", x2, y2);
  send(end, x2, y2);
}

function press(key, options = {}) {
  const event = new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true, ...options });
  document.activeElement.dispatchEvent(event);
}

function name(text) {
  input("teach-label").value = text;
  for (const kind of ["input", "change"]) {
    input("teach-label").dispatchEvent(new Event(kind, { bubbles: true }));
  }
}

function same(found, expected, what) {
  check(String(found) === String(expected), `${what}: ${found} instead of ${expected}`);
}

/** Whether the browser would ask before it leaves the page. */
function asks() {
  return !window.dispatchEvent(new Event("beforeunload", { cancelable: true }));
}

/** What a click has the browser save: its name and its bytes. */
async function savedBy(id) {
  saved.blob = null;
  byId(id).click();
  await until(() => saved.blob, "the file");
  return { name: saved.name, bytes: new Uint8Array(await saved.blob.arrayBuffer()) };
}

async function start() {
  choose("model-file", file(detector({ names: NAMES }), "base.onnx"));
  await ready("base.onnx");
  choose("image-file", await picture("navy", "stage.png", 400, 300));
  await until(() => demo().last?.title === "stage.png", "the picture");
}

scenarios({
  async "the program for teaching is loaded with the first frame, and asked for again if it fails"() {
    await start();
    watchDownloads();
    const { src } = byId("teach-program");
    const isLoaded = () => document.head.querySelector(`script[src="${src}"]`) !== null;
    byId("teach-program").src = URL.createObjectURL(new Blob());
    byId("teach-take").click();
    check((await screen("no-assets")).includes("is damaged"), "it says what is damaged");
    check(!isLoaded() && dead("teach-undo"), "teaching is not there yet");
    byId("teach-program").src = src;
    byId("teach-take").click();
    await until(() => frames().length === 1, "the frame");
    check(isLoaded(), "it is there now");
    byId("teach-frames").querySelector(".teach-delete").click();
  },

  async "a page without its training step says so, and nothing is asked before leaving"() {
    await start();
    check(byId("teach-work").hidden && !byId("teach-empty").hidden, "no frames");
    check(!asks(), "nothing is there to be lost");
    const teacher = await demo().openTeacher();
    const { available } = teacher;
    teacher.available = () => "The reason.";
    byId("teach-take").click();
    await until(() => frames().length === 1, "the frame");
    same(byId("teach-unavailable").innerText, "The reason.", "why not");
    check(dead("teach-start") && !dead("teach-save-data"), "only the data can be saved");
    check(asks(), "the frame is not saved");
    byId("teach-frames").querySelector(".teach-delete").click();
    check(frames().length === 0 && !asks(), "no frame, no question");
    check(document.activeElement === byId("teach-take"), "the keyboard has a place");
    Object.assign(teacher, { available });
  },

  async "frames from the stage by T, from several files, and dropped"() {
    await standIn();
    press("t");
    await until(() => frames().length === 1, "the key");
    const given = [await picture("red", "a.png"), file("?", "no.png", "image/png")];
    const transfer = new DataTransfer();
    for (const one of [...given, await picture("lime", "b.png")]) transfer.items.add(one);
    input("teach-files").files = transfer.files;
    input("teach-files").dispatchEvent(new Event("change"));
    await until(() => said().startsWith("Took 2 pictures"), "the files");
    check(said().includes("Not opened: no.png"), said());
    drop([await picture("blue", "c.png")], "teach");
    await until(() => frames().length === 4, "the dropped one");
    same(demo().last.title, "stage.png", "on the stage");
    for (let left = 3; left > 0; left -= 1) {
      byId("teach-frames").querySelectorAll(".teach-delete")[left].click();
    }
    same(frames().length, 1, "frames");
    byId("teach-take").focus();
    input("teach-label").focus();
    press("t");
    same(frames().length, 1, "letters in the field are no commands");
  },

  async "boxes by the pointer: drawn, moved, made larger, selected, given up"() {
    frames()[0].click();
    drag([100, 50], [200, 150]);
    same(told(selected()), [100, 50, 100, 100], "drawn");
    check(document.activeElement === byId("teach-label"), "its name is wanted next");
    name(" Mug ");
    drag([150, 100], [170, 90]);
    same(told(selected()), [120, 40, 100, 100], "moved");
    drag([220, 140], [260, 400]);
    same(told(selected()), [120, 40, 140, 260], "its lower right corner, up to the border");
    drag([150, 100], [190, 90], "pointercancel");
    same(told(selected()), [120, 40, 140, 260], "nothing is left of what was broken off");
    drag([20, 20], [20, 20]);
    check(!selected(), "a click beside it selects nothing");
    drag([150, 100], [180, 130]);
    same(told(selected()), [150, 100, 30, 30], "a box within a box");
    drag([20, 20], [20, 20]);
    drag([160, 110], [160, 110]);
    same(told(selected()), [150, 100, 30, 30], "the inner one");
    same(
      boxes().map((box) => box.innerText),
      ["Mug", "Mug"],
      "the name is used again",
    );
    same(frames()[0].innerText, "2 boxes", "the thumbnail");
  },

  async "boxes by keys, and a name from right to left"() {
    byId("teach-add").click();
    same(told(selected()), [133, 100, 133, 100], "in the middle");
    check(document.activeElement === selected(), "it has the keyboard");
    press("ArrowRight");
    press("ArrowUp", { repeat: true });
    press("ArrowDown", { shiftKey: true });
    same(told(selected()), [134, 96, 133, 101], "moved and made higher");
    name("חתול");
    same(getComputedStyle(selected().firstElementChild).direction, "rtl", "direction");
    check(selected().getAttribute("aria-label").includes("\u2068חתול\u2069"), "set apart");
    name("GREEN thing");
    same(input("teach-label").value, "green thing", "a known class, whatever the capitals");
    const options = [...byId("teach-labels").querySelectorAll("option")].map(({ value }) => value);
    same(options, [...NAMES, "Mug"], "suggestions");
    selected().focus();
    press("Delete");
    same(boxes().length, 2, "boxes left");
    check(document.activeElement === selected(), "the keyboard is at another box");
    byId("teach-found").click();
    await until(() => boxes().length === 3, "the model's box");
    same(boxes()[2].innerText, "green thing", "its class");
    byId("teach-found").click();
    await until(() => said().includes("0 added"), "that it is there already");
    drag([399, 1], [399, 1]);
    drag([1, 250], [60, 299]);
    name("");
  },

  async "teaching: what is missing, progress, resting controls, stop, the new class, undo"() {
    const made = await standIn();
    byId("teach-start").click();
    await until(() => said().includes("has no class"), "what is missing");
    check(document.activeElement === byId("teach-label") && !made.given, "the field");
    press("Enter");
    press("Delete");
    input("teach-steps").value = "3";
    byId("teach-start").focus();
    byId("teach-start").click();
    await until(() => made.given, "the teacher");
    same(demo().state, "teaching", "state");
    const { examples, part, steps } = made.given;
    same([part, steps, examples.length, examples[0].boxes.length], ["whole", 3, 1, 3], "the task");
    const resting = [
      "start",
      "step",
      "image-file",
      "model-file",
      "samples",
      "confidence",
      "backend",
    ];
    for (const id of [...resting, "teach-start", "teach-take", "teach-label", "teach-undo"]) {
      check(dead(id), `${id} rests`);
    }
    check(!dead("stop") && document.activeElement === byId("teach-stop"), "it can be stopped");
    drop([await picture("blue", "later.png")]);
    made.next();
    await until(() => byId("teach-step").innerText.includes("1 of 3, loss 4.00"), "a step");
    byId("stop").click();
    await until(() => said().startsWith("Stopped after"), "its end");
    check(said().includes("has learned: Mug."), said());
    await ready("taught.onnx");
    same(byId("class-filter").innerText.includes("Mug"), true, "the filter");
    same(demo().last.title, "stage.png", "the dropped picture was not taken");
    const model = await savedBy("teach-save-model");
    same(/^taught-.*\.onnx$/.test(model.name) && model.bytes, [1, 2, 3], "the model");
    byId("teach-undo").click();
    await ready("base.onnx");
    await until(() => dead("teach-undo") && !dead("teach-start"), "that all is as before");
    check(!byId("class-filter").innerText.includes("Mug"), "the class is gone");
  },

  async "a camera rests while the model learns, and goes on; its frames are taken from the stage"() {
    const canvas = document.createElement("canvas");
    const context = canvas.getContext("2d");
    let shade = 0;
    const timer = setInterval(() => {
      shade = (shade + 40) % 256;
      context.fillStyle = `rgb(0 0 ${shade})`;
      context.fillRect(0, 0, 300, 150);
    }, 50);
    navigator.mediaDevices.getUserMedia = async () => canvas.captureStream(15);
    check(byId("teach-take-live").hidden, "no button over pictures");
    byId("start").click();
    await until(() => demo().state === "running" && demo().last.width === 300, "the camera");
    byId("teach-take-live").click();
    await until(() => frames().length === 2, "its frame");
    const made = await standIn();
    byId("teach-start").click();
    await until(() => made.given, "the teacher");
    same(made.given.examples[1].bitmap.width, 300, "the frame's width");
    const { frames: detected } = demo();
    await sleep(400);
    same(demo().frames, detected, "frames that were detected in meanwhile");
    byId("teach-stop").click();
    made.next();
    await until(() => demo().state === "running" && demo().frames > detected + 2, "the camera");
    byId("stop").click();
    clearInterval(timer);
    byId("teach-undo").click();
    await until(() => demo().ready && dead("teach-undo"), "the model before");
    byId("teach-frames").querySelectorAll(".teach-delete")[1].click();
    choose("image-file", await picture("navy", "stage.png", 400, 300));
    await until(() => demo().last.title === "stage.png", "the picture");
  },

  async "a teaching that fails is told, and the page goes on"() {
    const made = await standIn({ fails: true });
    byId("teach-start").click();
    await until(() => made.given, "the teacher");
    made.next();
    check((await screen("teach-failed")).includes("No memory."), "the reason");
    check(said().startsWith("The teaching failed: no memory"), said());
    byId("message").querySelector("[data-action=dismiss]").click();
    await until(() => demo().ready && !dead("teach-start"), "the page");
  },

  async "all of it fits into 296 pixels, in large letters, too"() {
    const root = document.documentElement;
    for (const letters of [16, 24]) {
      root.style.fontSize = `${letters}px`;
      byId("teach").style.width = "296px";
      const { left, right } = byId("teach").getBoundingClientRect();
      const parts = [...byId("teach").querySelectorAll(":not(.visually-hidden, .box *)")];
      const wide = parts.filter((part) => {
        const place = part.getBoundingClientRect();
        return place.width && (place.left < left || place.right > right);
      });
      same(
        wide.map((part) => part.outerHTML),
        [],
        `what does not fit at ${letters} px`,
      );
    }
    byId("teach").style.width = root.style.fontSize = "";
  },

  async "axe-core finds nothing, in light and dark; saved frames are not asked for"() {
    for (const theme of [1, 2]) {
      const { violations } = await axe.run(document, { preload: false });
      const found = violations.map(({ id, nodes }) => `${id}: ${nodes[0].html}`);
      check(found.length === 0, `axe-core, theme ${theme}:\n${found.join("\n")}`);
      byId("theme").click();
    }
    check(asks(), "boxes are not saved");
    // Besides the drawn frame a large picture, which the page keeps smaller.
    const large = [await picture("teal", "large.png", 2600, 1300)];
    drop(large, "teach");
    await until(() => frames().length === 2, "the large picture");
    frames()[1].click();
    drag([320, 160], [960, 480]);
    name("cup: of 'tea'");
    const { name: title, bytes } = await savedBy("teach-save-data");
    check(/^taught-.*\.zip$/.test(title), title);
    // test_inside.py has Python read it.
    const shown = [[650, 325, 1300, 650]];
    frames()[0].click();
    shown.unshift(...boxes().map(told));
    Object.assign(window, {
      saved: {
        zip: btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join("")),
        names: [...new Set(boxes().map((box) => box.innerText)), "cup: of 'tea'"],
        boxes: shown,
      },
    });
    await until(() => !asks(), "that all is saved");
    byId("teach-add").click();
    check(asks(), "another box");
  },
});
