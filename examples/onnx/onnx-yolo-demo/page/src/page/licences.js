/** The licences of what the page is made of, in its help. */
import { assetBytes } from "./assets.js";
import { byId } from "./environment.js";

/** Unpack the text, and show it in place of the button. */
export async function showLicences() {
  const shown = byId("licences");
  shown.value = new TextDecoder().decode(await assetBytes("licences"));
  shown.hidden = false;
  byId("licences-open").hidden = true;
  shown.focus();
}
