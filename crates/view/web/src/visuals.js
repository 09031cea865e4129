// What the robot looks like: the shapes that its file shows, beside those that touch.

import {
  BufferAttribute, BufferGeometry, Color, Group, Mesh, MeshStandardMaterial, RepeatWrapping, SRGBColorSpace, TextureLoader,
} from "three";
import { octets } from "./data.js";
import { geometry } from "./shapes.js";

const CREASE = Math.cos(0.6); // of the angle below which triangles are shaded as one surface
const LAYERS = 8; // coplanar faces of neighbors get different depths, one of so many

// Numbers written as in `src/visuals/quantize.rs`: the lowest bytes of all, then the next ones.
function planes(bytes, count, width, start = 0) {
  const out = new Uint32Array(count);
  for (let k = 0; k < width; k++) {
    for (let i = 0; i < count; i++) out[i] |= bytes[start + k * count + i] << (8 * k);
  }
  return out;
}

// Points of `low.length` coordinates each.
function rows({ count, low, step, data }) {
  const [bytes, width] = [octets(data), low.length];
  const out = new Float32Array(width * count);
  for (let axis = 0; axis < width; axis++) {
    let number = 0;
    planes(bytes, count, 2, 2 * count * axis).forEach((code, i) => {
      number = (number + ((code >> 1) ^ -(code & 1))) & 0xffff;
      out[width * i + axis] = low[axis] + step[axis] * number;
    });
  }
  return out;
}

function corners(data) {
  const bytes = octets(data);
  let next = 0;
  return planes(bytes, bytes.length / 3, 3).map((code) => {
    if (code === 0) next += 1;
    return next - code - (code === 0 ? 1 : 0);
  });
}

// A triangle soup with normals: at each corner the mean of those faces around the vertex that meet at a small angle.
function creased(points, index, uv) {
  const count = index.length;
  const [faces, first] = [new Float32Array(count), new Uint32Array(points.length / 3 + 1)];
  for (let i = 0; i < count; i += 3) {
    const [a, b, c] = [3 * index[i], 3 * index[i + 1], 3 * index[i + 2]];
    const [x, y, z] = [0, 1, 2].map((k) => points[b + k] - points[a + k]);
    const [u, v, w] = [0, 1, 2].map((k) => points[c + k] - points[a + k]);
    faces.set([y * w - z * v, z * u - x * w, x * v - y * u], i);
  }
  for (let i = 0; i < count; i++) first[index[i] + 1] += 1;
  for (let i = 1; i < first.length; i++) first[i] += first[i - 1];
  const [around, filled] = [new Uint32Array(count), first.slice()];
  for (let i = 0; i < count; i++) around[filled[index[i]]++] = i - (i % 3);
  const length = (f) => Math.hypot(faces[f], faces[f + 1], faces[f + 2]) || 1;
  const [positions, normals, places] = [new Float32Array(3 * count), new Float32Array(3 * count), new Float32Array(2 * count)];
  for (let i = 0; i < count; i++) {
    const [own, vertex] = [i - (i % 3), index[i]];
    const size = length(own);
    for (let k = first[vertex]; k < first[vertex + 1]; k++) {
      const f = around[k];
      const dot = faces[f] * faces[own] + faces[f + 1] * faces[own + 1] + faces[f + 2] * faces[own + 2];
      // faces count by their area
      if (dot >= CREASE * size * length(f)) for (let n = 0; n < 3; n++) normals[3 * i + n] += faces[f + n];
    }
    const norm = Math.hypot(normals[3 * i], normals[3 * i + 1], normals[3 * i + 2]) || 1;
    for (let n = 0; n < 3; n++) {
      normals[3 * i + n] /= norm;
      positions[3 * i + n] = points[3 * vertex + n];
    }
    if (uv) places.set([uv[2 * vertex], uv[2 * vertex + 1]], 2 * i);
  }
  const out = new BufferGeometry();
  out.setAttribute("position", new BufferAttribute(positions, 3));
  out.setAttribute("normal", new BufferAttribute(normals, 3));
  if (uv) out.setAttribute("uv", new BufferAttribute(places, 2));
  return out;
}

const part = (part) => ({
  form: part.count > 0 ? creased(rows(part), corners(part.triangles), part.uv && rows(part.uv)) : null,
  pictured: Boolean(part.uv),
  look: part.look,
});

// Materials by look; `changed()` is called when a picture has been read.
class Materials {
  constructor(pictures, changed) {
    Object.assign(this, { pictures, changed, made: new Map(), textures: new Map() });
  }

  texture(number, [u, v]) {
    const key = `${number} ${u} ${v}`;
    if (!this.textures.has(key)) {
      const texture = new TextureLoader().load(this.pictures[number], this.changed);
      texture.colorSpace = SRGBColorSpace;
      texture.wrapS = texture.wrapT = RepeatWrapping;
      texture.repeat.set(u, v);
      this.textures.set(key, texture);
    }
    return this.textures.get(key);
  }

  of(look, pictured, layer) {
    const key = JSON.stringify([look, pictured, layer % LAYERS]);
    if (!this.made.has(key)) {
      const { rgba: [r, g, b, a], shininess = 0.5, emission = 0, tint = [1, 1, 1] } = look;
      const map = pictured && look.picture !== undefined ? this.texture(look.picture, look.repeat ?? [1, 1]) : null;
      const color = new Color().setRGB(...(map ? [r, g, b] : [r * tint[0], g * tint[1], b * tint[2]]), SRGBColorSpace);
      const offset = { polygonOffset: true, polygonOffsetFactor: 0, polygonOffsetUnits: 2 * (layer % LAYERS) };
      const material = new MeshStandardMaterial({ color, map, roughness: 0.75 - 0.4 * shininess, ...offset });
      if (emission > 0) material.emissive.copy(color).multiplyScalar(Math.min(emission, 1));
      if (a < 1) Object.assign(material, { transparent: true, opacity: a, depthWrite: false });
      this.made.set(key, material);
    }
    return this.made.get(key);
  }
}

// A shape of a body, ready to be added to its group.
function placed(form, material, { name, pose }) {
  const mesh = new Mesh(form, material);
  mesh.name = name;
  mesh.position.fromArray(pose);
  mesh.quaternion.fromArray(pose, 3);
  mesh.castShadow = mesh.receiveShadow = true;
  return mesh;
}

// Groups of the shapes that are shown, one per body; `plain(body, index)` is the color of what has none.
export class Visuals {
  constructor(data, plain, changed) {
    const { shapes, geoms, meshes, pictures, touching } = data.visuals;
    const materials = new Materials(pictures, changed);
    this.touching = new Set(touching);
    this.groups = data.bodies.map(() => new Group());
    this.paint = (number, body, index) => geoms[number] && geoms[number].rgba[3] > 0
      ? materials.of(geoms[number], false, index)
      : plain(body, index);
    const read = meshes.map(({ parts, own }) => ({ own, parts: parts.map(part).filter(({ form }) => form) }));
    for (const shape of shapes) {
      const group = this.groups[shape.body];
      const look = (own, inner) => (own ? inner ?? shape.look : shape.look ?? inner);
      const add = (form, color, pictured) => {
        const layer = group.children.length;
        const material = color ? materials.of(color, pictured, layer) : plain(shape.body, layer);
        if (form) group.add(placed(form, material, shape));
      };
      if (shape.mesh !== undefined) {
        const { own, parts } = read[shape.mesh];
        parts.forEach(({ form, look: inner, pictured }) => add(form, look(own, inner), pictured));
      } else {
        add(geometry(shape.geom === undefined ? shape : data.geoms[shape.geom], data), shape.look, false);
      }
    }
  }

  // Whether there is anything besides the shapes that touch.
  get any() {
    return this.groups.some((group) => group.children.length > 0);
  }
}
