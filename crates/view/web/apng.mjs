// Animated pictures (APNG) with a palette: small enough for a page of text, and made without a library.

import { deflateSync } from "node:zlib";

const COLORS = 255; // of the palette; one more stands for "as before"
const SAME = 255;
const LEVELS = 5; // bits per channel of the histogram

const CRC = Uint32Array.from({ length: 256 }, (_, n) => {
  let c = n;
  for (let k = 0; k < 8; k++) c = c & 1 ? 0xedb88320 ^ (c >>> 1) : c >>> 1;
  return c >>> 0;
});

function chunk(kind, data) {
  const body = Buffer.concat([Buffer.from(kind, "latin1"), data]);
  let crc = 0xffffffff;
  for (const byte of body) crc = CRC[(crc ^ byte) & 255] ^ (crc >>> 8);
  return Buffer.concat([uint(data.length), body, uint(~crc >>> 0)]);
}

function uint(x) {
  const out = Buffer.alloc(4);
  out.writeUInt32BE(x);
  return out;
}

// Boxes of colors, the one with most pixels times its longest side cut in two until there are enough.
function palette(frames) {
  const counts = new Map();
  for (const frame of frames) {
    for (let i = 0; i < frame.length; i += 4) {
      const key = cell(frame[i], frame[i + 1], frame[i + 2]);
      const sum = counts.get(key) ?? counts.set(key, [0, 0, 0, 0]).get(key);
      sum[0] += frame[i];
      sum[1] += frame[i + 1];
      sum[2] += frame[i + 2];
      sum[3] += 1;
    }
  }
  const points = [...counts.values()].map(([r, g, b, n]) => ({ color: [r / n, g / n, b / n], n }));
  const boxes = [box(points)];
  while (boxes.length < COLORS) {
    const next = boxes.reduce((best, one) => (one.points.length > 1 && one.weight > (best?.weight ?? 0) ? one : best), null);
    if (!next) break;
    boxes.splice(boxes.indexOf(next), 1, ...halves(next));
  }
  return boxes.map(({ points }) => {
    const n = points.reduce((sum, p) => sum + p.n, 0);
    return [0, 1, 2].map((c) => Math.round(points.reduce((sum, p) => sum + p.n * p.color[c], 0) / n));
  });
}

const cell = (r, g, b) => ((r >> (8 - LEVELS)) << (2 * LEVELS)) | ((g >> (8 - LEVELS)) << LEVELS) | (b >> (8 - LEVELS));

function box(points) {
  const sides = [0, 1, 2].map((c) => {
    const values = points.map(({ color }) => color[c]);
    return values.reduce((a, b) => Math.max(a, b)) - values.reduce((a, b) => Math.min(a, b));
  });
  const axis = sides.indexOf(Math.max(...sides));
  return { points, axis, weight: sides[axis] * Math.sqrt(points.reduce((sum, p) => sum + p.n, 0)) };
}

// Cut where half of the pixels are on either side, at least one color each.
function halves({ points, axis }) {
  const sorted = points.toSorted((a, b) => a.color[axis] - b.color[axis]);
  const half = sorted.reduce((sum, p) => sum + p.n, 0) / 2;
  let [cut, passed] = [0, 0];
  while (cut < sorted.length - 1 && (cut === 0 || passed < half)) passed += sorted[cut++].n;
  return [box(sorted.slice(0, cut)), box(sorted.slice(cut))];
}

// Numbers of the palette, pixel by pixel.
function indexed(frame, colors, cache) {
  const out = new Uint8Array(frame.length / 4);
  for (let k = 0; k < out.length; k++) {
    const [r, g, b] = [frame[4 * k], frame[4 * k + 1], frame[4 * k + 2]];
    const key = (r << 16) | (g << 8) | b;
    let found = cache.get(key);
    if (found === undefined) {
      let least = Infinity;
      colors.forEach(([x, y, z], n) => {
        const distance = (x - r) ** 2 + (y - g) ** 2 + (z - b) ** 2;
        if (distance < least) [least, found] = [distance, n];
      });
      cache.set(key, found);
    }
    out[k] = found;
  }
  return out;
}

// Lines with the filter "none" in front, deflated.
function packed(pixels, width, height) {
  const lines = Buffer.alloc((width + 1) * height);
  for (let y = 0; y < height; y++) lines.set(pixels.subarray(y * width, (y + 1) * width), y * (width + 1) + 1);
  return deflateSync(lines, { level: 9 });
}

// `frames`: RGBA bytes; `delay` (s) between them. What has not changed is not told again.
export function apng(frames, width, height, delay) {
  const colors = palette(frames);
  const cache = new Map();
  const header = Buffer.concat([uint(width), uint(height), Buffer.from([8, 3, 0, 0, 0])]);
  const opaque = Buffer.alloc(SAME + 1, 255);
  opaque[SAME] = 0;
  const full = [...colors, ...Array(SAME + 1 - colors.length).fill([0, 0, 0])];
  const out = [
    Buffer.from([137, 80, 78, 71, 13, 10, 26, 10]),
    chunk("IHDR", header),
    chunk("PLTE", Buffer.from(full.flat())),
    chunk("tRNS", opaque),
    chunk("acTL", Buffer.concat([uint(frames.length), uint(0)])),
  ];
  let [before, number] = [null, 0];
  for (const frame of frames) {
    const pixels = indexed(frame, colors, cache);
    const told = before ? pixels.map((x, k) => (x === before[k] ? SAME : x)) : pixels;
    const time = Buffer.alloc(6); // milliseconds, per second; the frame stays; what is transparent shows the one before
    time.writeUInt16BE(Math.round(1000 * delay), 0);
    time.writeUInt16BE(1000, 2);
    time[5] = before ? 1 : 0;
    out.push(chunk("fcTL", Buffer.concat([uint(number++), uint(width), uint(height), uint(0), uint(0), time])));
    const data = packed(told, width, height);
    out.push(before ? chunk("fdAT", Buffer.concat([uint(number++), data])) : chunk("IDAT", data));
    before = pixels;
  }
  out.push(chunk("IEND", Buffer.alloc(0)));
  return Buffer.concat(out);
}
