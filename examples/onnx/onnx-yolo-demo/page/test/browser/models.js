/** Models that cannot run: a sentence that names the thing and the fix, and the page goes on. */
import { constant, detector, node, valueInfo } from "../onnx.js";
import {
  byId,
  check,
  choose,
  demo,
  file,
  picture,
  ready,
  scenarios,
  screen,
  status,
  until,
} from "./helpers.js";

/** Open a model that is refused. @param {RegExp} expected What the message says. */
async function refused(bytes, name, expected, id = "model-refused") {
  choose("model-file", file(bytes, name));
  await until(() => byId("message").textContent.includes(name), `a message on ${name}`);
  const text = await screen(id);
  check(expected.test(text), `expected ${expected} in: ${text}`);
  check(!/\/s\/onnxruntime|\.(cc|h):\d|ERROR_CODE/.test(text), `no places of a build in: ${text}`);
  await until(() => demo().ready, "the model before");
}

scenarios({
  async "what the runtime lacks"() {
    await refused(detector({ opset: 99 }), "future.onnx", /opset 99 .*opset 20/);
  },

  async "files that are no models"() {
    const whole = detector();
    const page = new TextEncoder().encode("<!doctype html><html><body>404</body></html>");
    for (const bytes of [whole.slice(0, whole.length / 2), page, new Uint8Array(0)]) {
      await refused(bytes, "broken.onnx", /not a model/, "model-broken");
    }
  },

  async "models of another shape"() {
    const images = valueInfo("images", [1, 3, 32, 32]);
    const others = [
      detector({ inputs: [valueInfo("images", [1, 1, 32, 32])] }),
      detector({ inputs: [images, valueInfo("orig_target_sizes", [1, 2])] }),
      detector({ metadata: { names: "{0: 'a', 1: 'b', 2: 'c'}" } }),
    ];
    for (const bytes of others) await refused(bytes, "other.onnx", /1, 3, S, S/, "model-shape");
  },

  async "outputs that are transposed or finished"() {
    choose("image-file", await picture("black", "dark.png"));
    const names = ["one", "two", "three"];
    const boxes = [
      [16, 16, 12, 12, 0.1, 0.9, 0],
      [17, 16, 12, 12, 0, 0.8, 0],
    ];
    choose("model-file", file(detector({ names, boxes, columns: true }), "columns.onnx"));
    await ready("columns.onnx");
    await until(() => demo().last.detections.length === 1, "one box, for the other is suppressed");
    check(demo().last.detections[0].name === "two", "its class");
    const finished = boxes.map(() => [8, 8, 24, 24, 0.75, 2]);
    choose("model-file", file(detector({ names, boxes: finished, columns: true }), "end.onnx"));
    await ready("end.onnx");
    await until(() => demo().last.detections.length === 2, "both finished boxes");
    const [{ x1, y2, score, name }] = demo().last.detections;
    check(x1 === 16 && y2 === 48 && score === 0.75 && name === "three", "what they are");
    const overlap = /** @type {HTMLInputElement} */ (byId("iou"));
    check(overlap.disabled, "the overlap has no effect");
    choose("model-file", file(detector(), "rows.onnx"));
    await ready("rows.onnx");
    check(!overlap.disabled, "the overlap is back");
  },

  async "what is too large, and weights that are no numbers"() {
    await refused(detector({ side: 20000 }), "huge.onnx", /20000x20000 .* up to 2048/);
    const change = ({ nodes, constants }) => {
      constants.push(constant("w", [1], Float32Array.of(Number.NaN)));
      nodes.push(node("Mul", ["mean", "w"], ["more"]));
    };
    await refused(detector({ change }), "nan.onnx", /NaN or infinity/);
    const large = file("", "large.onnx");
    Object.defineProperty(large, "size", { value: 3.2e9 });
    const { message } = await demo()
      .loadModel(large)
      .catch((error) => error);
    check(message.startsWith("File large.onnx: it has 3.2 GB"), message);
  },

  async "a model that has seen drawings only, and one that does not say"() {
    const metadata = { trained_on: "drawn pictures" };
    choose("model-file", file(detector({ metadata }), "drawn.onnx"));
    await ready("drawn.onnx");
    const note = byId("model-origin");
    check(!note.hidden && note.textContent.includes("drawn pictures only"), note.textContent);
    Object.assign(metadata, {
      trained_on: "ten photographs",
      license: "CC0-1.0",
      average_precision: JSON.stringify({
        on: "five others",
        per_class: { one: { map50: 0.51, map50_95: 0.25 }, two: { map50: null, map50_95: null } },
      }),
    });
    choose("model-file", file(detector({ metadata, names: ["one", "two"] }), "seen.onnx"));
    await ready("seen.onnx");
    const words = byId("card").textContent.replace(/\s+/g, " ");
    check(words.includes("Has seenten photographsLicenceCC0-1.0"), words);
    check(words.includes("one0.5100.250two––") && words.includes("on five others."), words);
    const said = "This model has learned from ten photographs.";
    check(note.textContent.replace(/[\u2066-\u2069]/g, "") === said, note.textContent);
    choose("model-file", file(detector(), "other.onnx"));
    await ready("other.onnx");
    check(note.hidden && byId("card").hidden, "nothing is said");
  },

  async "scores above 1, and many classes"() {
    const names = Array.from({ length: 300 }, (_, number) => `class ${number}`);
    const boxes = names.map((_, own) => [
      10 + (own % 18) * 0.5,
      16,
      8,
      8,
      ...names.map((__, other) => (own === other ? 3.92 : 0)),
    ]);
    choose("image-file", await picture("black", "dark.png"));
    choose("model-file", file(detector({ names, boxes }), "logits.onnx"));
    await ready("logits.onnx");
    await until(() => demo().last.detections.length === 300, "its detections");
    check(status().length < 250 && status().includes("295 other classes"), "a short line");
    check(status().includes("sigmoid"), "what is wrong with the scores");
    check(byId("detections").querySelector(".score").textContent === "3.92", "no percentage");
  },
});
