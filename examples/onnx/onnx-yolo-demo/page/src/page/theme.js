/**
 * Light or dark: the system's choice until the user makes one, which is remembered.
 *
 * The chart draws its colours itself, so it has to be told.
 */
import { memory } from "./environment.js";
import { restyleChart } from "./stage.js";

const root = document.documentElement;
const systemDark = matchMedia("(prefers-color-scheme: dark)");

export function toggleTheme() {
  const present = root.dataset.theme || (systemDark.matches ? "dark" : "light");
  root.dataset.theme = present === "dark" ? "light" : "dark";
  memory.set("localStorage", "theme", root.dataset.theme);
  restyleChart();
}

/** Take the remembered theme, and follow the system's. */
export function startTheme() {
  const theme = memory.get("localStorage", "theme");
  if (theme === "dark" || theme === "light") root.dataset.theme = theme;
  restyleChart();
  systemDark.addEventListener("change", restyleChart);
}
