// Everything around the robot: renderer, light with shadows, ground.

import {
  CanvasTexture, CircleGeometry, DirectionalLight, GridHelper, Group, HemisphereLight, Mesh, MeshLambertMaterial,
  PCFShadowMap, Quaternion, RepeatWrapping, SRGBColorSpace, Vector3, WebGLRenderer,
} from "three";

const TILES = ["#e6ebf0", "#d8dfe7"];
const SUN = new Vector3(0.55, -0.8, 1.5).normalize(); // where light comes from
const FAR = 30; // radius of the ground, in radii of what moves
const SHADE = 3; // the same, of the ground that shadows fall on
const SHARPNESS = 2048; // pixels of the shadows, each way

export function renderer(canvas) {
  const out = new WebGLRenderer({ canvas, antialias: true, preserveDrawingBuffer: true });
  out.shadowMap.enabled = true;
  out.shadowMap.type = PCFShadowMap;
  return out;
}

// Light from the sky and from the sun. The sun stays beside what it shines on: `over(middle)`.
export function lights(radius) {
  const [group, sun] = [new Group(), new DirectionalLight("#fff8ee", 1.9)];
  const reach = SHADE * radius;
  Object.assign(sun.shadow.camera, { left: -reach, right: reach, top: reach, bottom: -reach, near: 0.1 * reach, far: 5 * reach });
  sun.shadow.mapSize.set(SHARPNESS, SHARPNESS);
  sun.shadow.normalBias = 0.01 * radius;
  sun.shadow.bias = -0.0004;
  sun.shadow.radius = 3;
  sun.castShadow = true;
  group.add(new HemisphereLight("#f6f9ff", "#ccd0d6", 1.75), sun, sun.target);
  const over = (middle) => {
    sun.target.position.copy(middle);
    sun.position.copy(middle).addScaledVector(SUN, 2.5 * reach);
  };
  return { group, over };
}

// A picture that is drawn, not loaded.
function texture(size, draw) {
  const canvas = document.createElement("canvas");
  canvas.width = canvas.height = size;
  draw(canvas.getContext("2d"), size);
  return new CanvasTexture(canvas);
}

function checker(anisotropy) {
  const out = texture(256, (pen, size) => {
    for (let k = 0; k < 4; k++) {
      pen.fillStyle = TILES[(k + (k >> 1)) % 2];
      pen.fillRect(((k % 2) * size) / 2, ((k >> 1) * size) / 2, size / 2, size / 2);
    }
  });
  out.colorSpace = SRGBColorSpace;
  out.wrapS = out.wrapT = RepeatWrapping;
  out.anisotropy = anisotropy;
  return out;
}

// White in the middle, black at the rim: where the ground ends, it has faded.
function fading() {
  return texture(512, (pen, size) => {
    const shade = pen.createRadialGradient(size / 2, size / 2, 0, size / 2, size / 2, size / 2);
    [[0, "#fff"], [0.25, "#fff"], [0.6, "#555"], [1, "#000"]].forEach((stop) => shade.addColorStop(...stop));
    pen.fillStyle = shade;
    pen.fillRect(0, 0, size, size);
  });
}

// Edge of a tile: a power of ten, twice or five times one, about half of what moves (m).
function tile(radius) {
  const power = 10 ** Math.floor(Math.log10(0.6 * radius));
  return power * [5, 2, 1].find((step) => step * power <= 0.6 * radius * 1.0001);
}

// A plane has no end: a disc of tiles under all that moves stands for it. `middle` is where the motion begins, `roam` how
// far it goes from there.
export function plane(geom, middle, radius, roam, anisotropy) {
  const pair = 2 * tile(radius);
  const far = pair * Math.ceil((FAR * radius + roam) / pair);
  const material = new MeshLambertMaterial({ map: checker(anisotropy), alphaMap: fading(), transparent: true });
  material.map.repeat.setScalar((2 * far) / pair);
  const disc = new Mesh(new CircleGeometry(far, 96), material);
  disc.position.fromArray(geom.pose);
  disc.quaternion.fromArray(geom.pose, 3);
  // whole pairs of tiles from the origin of the plane, so that tiles are where their coordinates say
  const inside = middle.clone().sub(disc.position).applyQuaternion(disc.quaternion.clone().invert());
  const whole = (x) => pair * Math.round(x / pair);
  disc.position.add(new Vector3(whole(inside.x), whole(inside.y), 0).applyQuaternion(disc.quaternion));
  disc.receiveShadow = true;
  return disc;
}

// Where there is no ground: lines below the motion, to tell up from down.
export function grid(middle, radius) {
  const edge = tile(radius);
  const lines = new GridHelper(40 * edge, 40, "#9aa7b5", "#bcc7d3");
  lines.quaternion.copy(new Quaternion().setFromAxisAngle(new Vector3(1, 0, 0), Math.PI / 2));
  lines.position.set(middle.x, middle.y, middle.z - 1.15 * radius);
  lines.material.transparent = true;
  lines.material.opacity = 0.45;
  return lines;
}
