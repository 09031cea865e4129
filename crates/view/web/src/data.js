// What the page was given: JSON, with long lists of numbers as base64 of their bytes, least significant first.

function bytes(text) {
  const raw = atob(text);
  const out = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; i++) out[i] = raw.charCodeAt(i);
  return out;
}

export const floats = (text) => new Float32Array(bytes(text).buffer);
export const doubles = (text) => new Float64Array(bytes(text).buffer);
export const integers = (text) => new Uint32Array(bytes(text).buffer);
export const octets = bytes;

export function read() {
  const data = JSON.parse(document.getElementById("data").textContent);
  if (data.format !== "slipstick-replay" || data.version !== 1) {
    throw new Error(`expected slipstick-replay 1, got ${data.format} ${data.version}`);
  }
  return data;
}
