// Bars that say what the length of an arrow means.

const [SHORT, LONG] = [45, 130]; // pixels of a bar

// 1, 2 or 5 times a power of ten, the largest not above x.
export function round(x) {
  const power = 10 ** Math.floor(Math.log10(x));
  return power * [5, 2, 1].find((step) => step * power <= x * 1.0001);
}

// A number as a reader wants it.
export function shown(x, digits = 3) {
  const usual = x === 0 || (Math.abs(x) >= 1e-3 && Math.abs(x) < 1e5);
  return usual ? String(Number(x.toPrecision(digits))) : x.toExponential(digits - 1);
}

function bar(color, scale, unit, pixels) {
  const value = round(LONG / (scale * pixels));
  const length = value * scale * pixels;
  if (!(length >= SHORT / 4 && Number.isFinite(value))) return null;
  const [row, line] = [document.createElement("div"), document.createElement("i")];
  row.className = "scale";
  line.style.width = `${length.toFixed(0)}px`;
  line.style.setProperty("--bar", color);
  row.append(`${shown(value)} ${unit}`, line);
  return row;
}

export class Scales {
  constructor() {
    this.home = document.getElementById("scales");
    this.last = "";
  }

  // `bars`: [color, meters per unit, unit]; `pixels` per meter where the camera looks.
  show(bars, pixels) {
    const key = JSON.stringify([bars, pixels.toPrecision(2)]);
    if (key === this.last) return;
    this.last = key;
    this.home.replaceChildren(...bars.map(([color, scale, unit]) => bar(color, scale, unit, pixels)).filter(Boolean));
  }
}
