"use strict";
// a square from (0, 0), at the lower left, to (1, 1): a click adds a point to the text, which holds one per line
const EDGE = 4, SIDE = 100 - 2 * EDGE;

function points() {
  const numbers = String(props.value ?? "").split(/[\s,;]+/).filter(Boolean).map(Number);
  const found = [];
  for (let i = 0; i + 1 < numbers.length; i += 2) found.push([numbers[i], numbers[i + 1]]);
  return found.filter(point => point.every(Number.isFinite));
}

function part(name, attributes, text = "") {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.textContent = text;
  return made;
}

function draw() {
  const shown = points().flatMap(([x, y], i) => {
    const [left, top] = [EDGE + SIDE * x, EDGE + SIDE * (1 - y)];
    return [part("circle", { cx: left, cy: top, r: 1.2 }), part("text", { x: left + 2, y: top - 1 }, i + 1)];
  });
  element.querySelector("svg").replaceChildren(...shown);
}

function set(kept) {
  props.value = kept.map(point => point.map(number => number.toFixed(3)).join(" ")).join("\n");
  trigger("input");
  draw();
}

element.addEventListener("click", event => {
  const svg = event.target.closest("svg"), button = event.target.closest("button");
  if (button) set(points().slice(0, Number(button.dataset.keep)));
  if (!svg) return;
  const box = svg.getBoundingClientRect();
  const place = [(event.clientX - box.left) / box.width, 1 - (event.clientY - box.top) / box.height];
  set([...points(), place.map(share => Math.min(1, Math.max(0, (100 * share - EDGE) / SIDE)))]);
});
watch("value", draw);
draw();
