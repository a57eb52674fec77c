/** What the page is made of: the licences, in its help, and where its sources are. */
import { assetBytes } from "./assets.js";
import { byId } from "./environment.js";

const textOf = async (name) => new TextDecoder().decode(await assetBytes(name));

/** Unpack the text, and show it in place of the button. */
export async function showLicences() {
  const shown = byId("licences");
  shown.value = await textOf("licences");
  shown.hidden = false;
  byId("licences-open").hidden = true;
  shown.focus();
}

/** Link to the repository, which is asked for nothing until the link is followed. */
export async function linkRepository() {
  const link = document.createElement("a");
  const where = { target: "_blank", rel: "noopener noreferrer" };
  Object.assign(link, where, { href: await textOf("repository") });
  link.textContent = "Source and documentation";
  byId("foot", "footer").append(link);
}
