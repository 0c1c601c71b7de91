"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const [R, C] = [data.rows.length, data.columns.length];
const MOST_WORDS = 1000;  // more would make the page slow; the map shows all
const at = id => document.getElementById(id);
const [canvas, said, layer, head] = ["map", "said", "layer", "head"].map(at);
const cache = new Map();
let values = new Float32Array(R * C), here = [0, 0];

// the weights (R * C) of one map, from the two bytes of each pixel
async function decoded(l, h) {
  const key = `${l},${h}`;
  if (!cache.has(key)) {
    const image = new Image();
    image.src = "data:image/png;base64," + data.maps[l][h];
    await image.decode();
    const hidden = document.createElement("canvas");
    [hidden.width, hidden.height] = [C, R];
    const context = hidden.getContext("2d", { willReadFrequently: true });
    context.drawImage(image, 0, 0);
    const bytes = context.getImageData(0, 0, C, R).data;
    const found = new Float32Array(R * C);
    for (let i = 0; i < R * C; i++) found[i] = (256 * bytes[4 * i] + bytes[4 * i + 1]) / 65535 * data.most;
    cache.set(key, found);
  }
  return cache.get(key);
}

async function choose() {
  const heads = +head.value < 0 ? data.maps[0].map((_, h) => h) : [+head.value];
  const sum = new Float32Array(R * C);
  for (const h of heads) (await decoded(+layer.value, h)).forEach((value, i) => { sum[i] += value / heads.length; });
  values = sum;
  draw();
  look("row", here[0]);
}

function draw() {
  const most = values.reduce((a, b) => Math.max(a, b), 1e-30);
  const [red, green, blue] = getComputedStyle(document.documentElement).getPropertyValue("--attention").trim().split(" ").map(Number);
  const pixels = new ImageData(C, R);
  values.forEach((value, i) => pixels.data.set([red, green, blue, Math.round(255 * value / most)], 4 * i));
  [canvas.width, canvas.height] = [C, R];
  canvas.getContext("2d").putImageData(pixels, 0, 0);
  const cell = Math.max(1, Math.min(24, Math.floor(960 / Math.max(R, C))));
  [canvas.style.width, canvas.style.height] = [`${cell * C}px`, `${cell * R}px`];
}

function shade(words, weights, mark) {
  const most = Math.max(1e-30, ...weights);
  words.forEach((button, i) => {
    button.style.setProperty("--shade", mark < 0 ? weights[i] / most : 0);
    button.classList.toggle("here", i === mark);
  });
}

// what one word of the rows looked at, or which rows looked at one word of the columns
function look(side, number) {
  const row = side === "row";
  const weights = row ? values.subarray(number * C, (number + 1) * C) : Float32Array.from({ length: R }, (_, r) => values[r * C + number]);
  shade(words.rows, row ? [] : weights, row ? number : -1);
  shade(words.columns, row ? weights : [], row ? -1 : number);
  let best = 0;
  weights.forEach((value, i) => { if (value > weights[best]) best = i; });
  show(row ? number : best, row ? best : number);
}

function show(r, c) {
  here = [r, c];
  said.textContent = `${data.rows[r]} → ${data.columns[c]}: ${values[r * C + c].toFixed(4)}`;
}

function list(side) {
  const names = data[side], place = at(side), one = side === "rows" ? "row" : "column";
  return names.slice(0, MOST_WORDS).map((name, number) => {
    const button = document.createElement("button");
    button.textContent = name;
    button.type = "button";
    for (const event of ["mouseenter", "focus", "click"]) button.addEventListener(event, () => look(one, number));
    place.append(button, " ");
    return button;
  });
}

function pointed(event) {
  const box = canvas.getBoundingClientRect();
  const r = Math.floor((event.clientY - box.top) / box.height * R), c = Math.floor((event.clientX - box.left) / box.width * C);
  if (r >= 0 && r < R && c >= 0 && c < C) { look("row", r); show(r, c); }
}

const MOVES = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
canvas.addEventListener("mousemove", pointed);
canvas.addEventListener("click", pointed);
canvas.addEventListener("keydown", event => {
  const move = MOVES[event.key];
  if (!move) return;
  event.preventDefault();
  const r = Math.min(R - 1, Math.max(0, here[0] + move[0])), c = Math.min(C - 1, Math.max(0, here[1] + move[1]));
  look("row", r);
  show(r, c);
});
layer.addEventListener("change", choose);
head.addEventListener("change", choose);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
if (parent !== window)  // in a frame: its page cannot look inside
  new ResizeObserver(() => parent.postMessage({ height: document.documentElement.getBoundingClientRect().height }, "*")).observe(document.body);
const words = { rows: list("rows"), columns: list("columns") };
if (R && C) choose();
