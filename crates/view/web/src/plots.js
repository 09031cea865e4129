// Curves over time under the picture; a click seeks.

import { shown } from "./scales.js";

const FIRST = ["height of the center of mass", "normal force of all contacts", "kinetic energy"];
const MOST = 8; // curves at a time
const RESIDUAL = "residual"; // drawn by its logarithm

const style = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const label = ({ name, group, unit }) => `${group.length <= 4 ? `${group}: ` : ""}${name}${unit ? ` (${unit})` : ""}`;

export class Plots {
  // `others`: motions to be drawn beside the first one; `seek(frame)`.
  constructor(motion, others, seek) {
    Object.assign(this, { motion, others, seek, rows: [] });
    this.home = document.getElementById("plots");
    this.list = document.getElementById("curves");
    this.add = document.getElementById("add");
    this.add.append(new Option("a curve …", ""), ...motion.curves.map((curve, k) => new Option(label(curve), k)));
    this.add.addEventListener("change", () => {
      if (this.add.value !== "") this.open(motion.curves[this.add.value]);
      this.add.value = "";
    });
    FIRST.forEach((name) => this.open(motion.curves.find((curve) => curve.name === name)));
    new ResizeObserver(() => this.draw()).observe(this.list);
  }

  open(curve) {
    if (!curve || this.rows.length >= MOST || this.rows.some((row) => row.curve === curve)) return;
    const [home, name, value, canvas, close] = ["div", "span", "span", "canvas", "button"].map((tag) => document.createElement(tag));
    home.className = "curve";
    name.className = "name";
    value.className = "value";
    name.append(label(curve), value);
    Object.assign(close, { type: "button", textContent: "×", title: `Remove ${curve.name}` });
    canvas.setAttribute("aria-label", `${label(curve)} over time`);
    home.append(name, canvas, close);
    this.list.append(home);
    const row = { curve, home, value, canvas, ...range(this.valuesOf(curve)) };
    this.rows.push(row);
    close.addEventListener("click", () => {
      home.remove();
      this.rows = this.rows.filter((other) => other !== row);
    });
    const go = (event) => this.seek(this.frameAt(event.offsetX / canvas.clientWidth));
    canvas.addEventListener("pointerdown", (event) => {
      canvas.setPointerCapture(event.pointerId);
      go(event);
    });
    canvas.addEventListener("pointermove", (event) => event.buttons > 0 && go(event));
    this.draw();
  }

  // The numbers of a curve in all motions.
  valuesOf({ name, group, values }) {
    const same = (motion) => motion.curves.find((other) => other.name === name && other.group === group);
    return [values, ...this.others.map((motion) => same(motion)?.values).filter(Boolean)];
  }

  frameAt(part) {
    const { begin, end } = this.motion;
    const [frame, rest] = this.motion.at(begin + Math.min(Math.max(part, 0), 1) * (end - begin));
    return frame + Math.round(rest);
  }

  draw() {
    if (this.home.hidden) return;
    for (const row of this.rows) this.drawRow(row);
    if (this.frame !== undefined) this.show(this.frame);
  }

  drawRow(row) {
    const { canvas, curve } = row;
    const [width, height] = [canvas.clientWidth, canvas.clientHeight];
    if (width === 0) return;
    const sharp = Math.min(window.devicePixelRatio, 2);
    [canvas.width, canvas.height] = [width * sharp, height * sharp];
    row.picture = Object.assign(document.createElement("canvas"), { width: canvas.width, height: canvas.height });
    const pen = row.picture.getContext("2d");
    pen.scale(sharp, sharp);
    const motions = [this.motion, ...this.others];
    this.valuesOf(curve).forEach((values, k) => {
      pen.strokeStyle = k === 0 ? style("--accent") : style("--faint");
      pen.lineWidth = k === 0 ? 1.6 : 1;
      pen.setLineDash(k === 0 ? [] : [4, 3]);
      line(pen, values, (frame) => this.x(motions[k].times[frame] - motions[k].begin, width), (y) => this.y(row, y, height));
    });
  }

  x(time, width) {
    return (time / (this.motion.end - this.motion.begin || 1)) * (width - 2) + 1;
  }

  y({ low, high, curve }, value, height) {
    const scaled = curve.name === RESIDUAL ? logarithm(value) : value;
    return height - 4 - ((scaled - low) / (high - low || 1)) * (height - 8);
  }

  // The playhead and the numbers of a frame.
  show(frame) {
    this.frame = frame;
    if (this.home.hidden) return;
    for (const row of this.rows) {
      const { canvas, curve, value } = row;
      const number = curve.values[frame];
      value.textContent = Number.isNaN(number) ? "–" : `${shown(number, 4)} ${curve.unit}`;
      if (!row.picture) continue;
      const pen = canvas.getContext("2d");
      const x = this.x(this.motion.times[frame] - this.motion.begin, canvas.clientWidth);
      pen.clearRect(0, 0, canvas.width, canvas.height);
      pen.drawImage(row.picture, 0, 0);
      pen.fillStyle = style("--ink");
      pen.fillRect((x * canvas.width) / canvas.clientWidth - 0.5, 0, 1.5, canvas.height);
    }
  }
}

const logarithm = (x) => Math.log10(Math.max(x, 1e-17));

function range(all) {
  let [low, high] = [Infinity, -Infinity];
  for (const values of all) {
    for (const x of values) {
      if (Number.isFinite(x)) [low, high] = [Math.min(low, x), Math.max(high, x)];
    }
  }
  return low <= high ? { low, high } : { low: 0, high: 1 };
}

function line(pen, values, x, y) {
  pen.beginPath();
  let down = false;
  values.forEach((value, frame) => {
    if (!Number.isFinite(value)) return (down = false);
    if (down) pen.lineTo(x(frame), y(value));
    else pen.moveTo(x(frame), y(value));
    down = true;
  });
  pen.stroke();
}
