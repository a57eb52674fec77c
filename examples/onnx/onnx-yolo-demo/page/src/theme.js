"use strict";

/**
 * Light or dark: the system's choice until the user makes one, which is remembered.
 *
 * The chart draws its colours itself, so it has to be told.
 */
// biome-ignore lint/correctness/noUnusedVariables: the next scripts use it.
const demoTheme = (() => {
  const { memory } = demoEnvironment;
  const systemDark = () => matchMedia("(prefers-color-scheme: dark)");

  function toggle() {
    const root = document.documentElement;
    const present = root.dataset.theme || (systemDark().matches ? "dark" : "light");
    root.dataset.theme = present === "dark" ? "light" : "dark";
    memory.set("localStorage", "theme", root.dataset.theme);
    demoStage.restyle();
  }

  /** Take the remembered theme, and follow the system's. */
  function start() {
    const theme = memory.get("localStorage", "theme");
    if (theme === "dark" || theme === "light") document.documentElement.dataset.theme = theme;
    systemDark().addEventListener("change", () => demoStage.restyle());
  }

  return { toggle, start };
})();
