"use strict";

/**
 * What the page is doing, and how it says so: its state, the status line, message screens, errors.
 *
 * The other parts tell it what they do (`set`) and have it look at the whole (`settle`), so that
 * the state is worked out in one place. It calls none of them: main.js connects the buttons.
 */
// biome-ignore lint/correctness/noUnusedVariables: the next scripts use it.
const demoStatus = (() => {
  const { byId } = demoEnvironment;
  const screen = new demoMessages.MessageScreen(byId("message"), (action) =>
    state.onAction(action),
  );

  const state = {
    running: false, // the frame loop
    paused: false, // a camera or video was stopped, and its last frame is shown
    booting: true, // until the first picture has its detections
    failing: false, // an error stopped the last thing asked for
    onState: () => {}, // called when the state was worked out
    onAction: () => {}, // called with the action of a message's button
  };

  /** What the page tells scripts; main.js adds the functions and makes it `window.demo`. */
  const demo = {
    ready: false,
    state: "loading",
    get screen() {
      return screen.shown;
    },
    info: null,
    last: null,
    frames: 0,
    errors: [],
    benchmark: null,
    firstResultMs: null,
  };

  /** @param {{onState: () => void, onAction: (action: string) => void}} handlers */
  function connect({ onState, onAction }) {
    Object.assign(state, { onState, onAction });
  }

  /** @param {{running?: boolean, paused?: boolean, booting?: boolean}} changes */
  function set(changes) {
    Object.assign(state, changes);
  }

  /**
   * @param {string} text For the status line.
   * @param {boolean} [bad] Whether it tells of a failure.
   */
  function say(text, bad = false) {
    const status = byId("status");
    demoView.setText(status, text);
    status.classList.toggle("bad", bad);
  }

  function setState(name) {
    demo.state = name;
    document.body.dataset.state = name;
    state.onState();
  }

  /** Take the state that follows from what is going on. */
  function settle() {
    if (state.running) setState("running");
    else if (state.failing) setState("error");
    else if (!demo.ready) setState("loading");
    else setState(state.paused ? "paused" : "ready");
  }

  /** Be ready if there is a model, and the first picture has been seen to. */
  function settleReady() {
    demo.ready = demo.info !== null && !state.booting;
    settle();
  }

  /**
   * @param {string} id Of the message screen.
   * @param {{happened?: string, detail?: string}} [texts] See `MessageScreen.show`.
   */
  function showScreen(id, texts = {}) {
    state.failing = true;
    screen.show(id, texts);
    const title = demoView.sentence(byId("message").querySelector("h2").textContent);
    say(texts.happened || [title, texts.detail].filter(Boolean).join(" "), true);
    settle();
  }

  function hideScreen() {
    state.failing = false;
    screen.hide();
    settle();
  }

  /** Show the screen of an error; errors without one are for the runtime's screen. */
  function showFailure(error) {
    const code = error.code === "assets-missing" ? "no-assets" : error.code;
    const id = demoMessages.hasScreen(code) ? code : "runtime";
    const own = ["no-camera", "camera-refused", "file-broken"].includes(id);
    showScreen(id, { [own ? "happened" : "detail"]: demoView.sentence(error.message) });
  }

  /** Run what a user asked for; its failure becomes a screen. */
  async function attempt(task) {
    try {
      await task();
    } catch (error) {
      showFailure(error);
    }
  }

  /** Note an error that nobody expected. @param {string} text */
  function recordError(text) {
    demo.errors.push(text);
    say(`Error: ${text}`, true);
  }

  /** Record what nobody catches, and what the page's policy blocks. */
  function watchErrors() {
    window.addEventListener("error", (event) => recordError(event.message || "unknown error"));
    window.addEventListener("unhandledrejection", ({ reason }) =>
      recordError(String(reason?.message ?? reason)),
    );
    document.addEventListener("securitypolicyviolation", (event) =>
      recordError(`the page's policy blocked ${event.blockedURI} (${event.violatedDirective})`),
    );
  }

  return {
    demo,
    get running() {
      return state.running;
    },
    connect,
    set,
    say,
    settle,
    settleReady,
    showScreen,
    hideScreen,
    showFailure,
    attempt,
    recordError,
    watchErrors,
  };
})();
