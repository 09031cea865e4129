// What the page was given: JSON, with long lists of numbers as base64 of their bytes, least significant first. Where it
// is shorter the bytes are deflated: `{ deflate: base64 }`.

function bytes(text) {
  const raw = atob(text);
  const out = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; i++) out[i] = raw.charCodeAt(i);
  return out;
}

// A list as it is after `read`: base64, or bytes that were inflated.
export const octets = (list) => (typeof list === "string" ? bytes(list) : list);
export const floats = (list) => new Float32Array(octets(list).buffer);
export const doubles = (list) => new Float64Array(octets(list).buffer);
export const integers = (list) => new Uint32Array(octets(list).buffer);

async function inflated(text) {
  const stream = new Blob([bytes(text)]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

// Puts the bytes in the place of all deflated lists below `value`.
async function inflate(value) {
  const all = Object.entries(value).map(async ([key, inner]) => {
    if (inner === null || typeof inner !== "object") return;
    if (typeof inner.deflate === "string") value[key] = await inflated(inner.deflate);
    else await inflate(inner);
  });
  await Promise.all(all);
}

export async function read() {
  const data = JSON.parse(document.getElementById("data").textContent);
  if (data.format !== "slipstick-replay" || data.version !== 2) {
    throw new Error(`expected slipstick-replay 2, got ${data.format} ${data.version}`);
  }
  await inflate(data);
  return data;
}
