"use strict";
// a frame gets the height of its page: of an answer from here, since no script runs in it; a map reports its own
const APART = 8;

function fit(frame) {
  const root = frame.contentDocument?.documentElement;
  if (!root) return;
  const measure = () => { frame.style.height = `${Math.ceil(root.getBoundingClientRect().height) + APART}px`; };
  new ResizeObserver(measure).observe(root);
  measure();
}

document.addEventListener("load", event => {
  if (event.target.matches?.("iframe.answer")) fit(event.target);
  // gradio gives the small images of examples no name
  if (event.target.matches?.("button img")) event.target.closest("button").ariaLabel ??= "Example image";
}, true);

addEventListener("message", event => {
  const height = Number(event.data?.height);
  if (!Number.isFinite(height)) return;
  for (const frame of document.querySelectorAll("iframe.map"))
    if (frame.contentWindow === event.source) frame.style.height = `${Math.min(height, 4000) + APART}px`;
});

// an address of an answer, as the part after the path
function toAddressBar(html) {
  const link = new DOMParser().parseFromString(html, "text/html").querySelector("a");
  if (link) history.replaceState(null, "", location.pathname + link.getAttribute("href"));
}

document.addEventListener("click", event => {
  const query = event.target.dataset?.copy;
  if (query) navigator.clipboard.writeText(location.origin + location.pathname + query).then(() => { event.target.textContent = "Copied"; });
});

// a file that is dropped on a field for text becomes its text
document.addEventListener("dragover", event => {
  if (event.target.matches?.("textarea")) event.preventDefault();
});

document.addEventListener("drop", async event => {
  const file = event.dataTransfer?.files[0];
  if (!file || !event.target.matches?.("textarea")) return;
  event.preventDefault();
  event.target.value = (await file.text()).trim();
  event.target.dispatchEvent(new Event("input", { bubbles: true }));
});
