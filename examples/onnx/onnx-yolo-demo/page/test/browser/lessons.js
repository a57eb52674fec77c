/** Teaching the real network: what is refused, what is kept; its numbers are tested from Python. */
import { byId, check, demo, picture, scenarios } from "./helpers.js";

/** @type {any} */
let teacher = null; // until the first test
const red = { x1: 10, y1: 10, x2: 40, y2: 40, label: "red thing" };

async function frame(boxes) {
  return { bitmap: await createImageBitmap(await picture("red", "red.png")), boxes };
}

/** @returns {Promise<{code: string, message: string}>} Why the page doesn't learn this. */
async function refusal(boxes, options = {}) {
  const examples = [await frame(boxes)];
  return teacher
    .teach({ examples, steps: 2, ...options })
    .then(() => ({ code: "", message: "it was learned" }))
    .catch((error) => error);
}

async function isRefused(why, boxes, options) {
  const { code, message } = await refusal(boxes, options);
  check(code === "teach-failed" && message.includes(why), `"${message}" instead of "${why}"`);
}

async function lossesOf(options = {}) {
  const losses = [];
  const examples = [await frame([red]), await frame([])];
  const onStep = ({ loss }) => losses.push(loss);
  const outcome = await teacher.teach({ examples, steps: 3, onStep, ...options });
  check(examples[0].bitmap.width === 64, "the picture is still open");
  return { losses, outcome };
}

scenarios({
  async "what cannot be learned is refused, and nothing changes"() {
    teacher = await demo().openTeacher();
    await isRefused("no object is marked", []);
    await isRefused("not within the picture", [{ ...red, x2: 65 }]);
    await isRefused("is empty", [{ ...red, x2: 10 }]);
    await isRefused("has no name", [{ ...red, label: " " }]);
    await isRefused(
      "at most 8",
      Array.from({ length: 9 }, (_, k) => ({ ...red, label: `thing ${k}` })),
    );
    await isRefused("there is no part", [red], { part: "toString" });
    await isRefused("the number of steps is 0", [red], { steps: 0 });
    check(demo().info.names.length === 2 && !teacher.taught().length, "nothing changed");
  },

  async "two lessons at once are refused"() {
    const refusals = [];
    const onStep = ({ step }) => step === 1 && refusals.push(refusal([red]));
    await lossesOf({ onStep });
    check((await refusals[0]).code === "busy", "the second is refused");
    await teacher.undo();
  },

  async "the same lesson twice is the same, to the last digit"() {
    const [first, second] = [await lossesOf(), await lossesOf()];
    check(String(first.losses) === String(second.losses), "the same losses");
  },

  async "what was learned until a stop is kept, and can be dropped"() {
    const { outcome } = await lossesOf({ steps: 1000, onStep: () => teacher.stop() });
    check(outcome.stopped && outcome.steps === 1, "stopped after a step");
    check(demo().info.names.includes("red thing"), "the class is there");
    check(byId("model-name").textContent.includes("red thing"), "the model says so");
    await teacher.undo();
    check(!demo().info.names.includes("red thing"), "the class is gone");
  },

  async "the page detects during a lesson"() {
    const shown = await picture("green", "green.png");
    const steps = [];
    const detected = [];
    const onStep = ({ step }) => {
      steps.push(step);
      if (step === 1)
        demo()
          .detectImage(shown)
          .then(() => detected.push(steps.length));
    };
    await lossesOf({ steps: 6, onStep });
    check(steps.length === 6 && detected[0] < 6, `detected after step ${detected}`);
    await teacher.undo();
  },
});
