// Gives each block of code a button that copies it; a notebook's outputs need none.
for (const block of document.querySelectorAll("div.highlight")) {
  if (block.closest(".cell_output")) continue;
  const button = document.createElement("button");
  button.className = "copy";
  button.textContent = "Copy";
  button.onclick = async () => {
    await navigator.clipboard.writeText(block.querySelector("pre").textContent);
    button.textContent = "Copied";
    setTimeout(() => {
      button.textContent = "Copy";
    }, 2000);
  };
  block.append(button);
}
