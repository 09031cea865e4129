// Geometries of the model's shapes, each in the frame of its geom: z is up, capsules and cylinders lie along z.

import {
  BoxGeometry, BufferAttribute, BufferGeometry, CapsuleGeometry, ConeGeometry, CylinderGeometry, SphereGeometry,
} from "three";
import { RoundedBoxGeometry } from "three/examples/jsm/geometries/RoundedBoxGeometry.js";
import { toCreasedNormals } from "three/examples/jsm/utils/BufferGeometryUtils.js";
import { floats, integers } from "./data.js";

const ROUND = 48; // sides of what is round
const EDGE = 0.06; // radius of a box's edges, as a share of its least half size: they catch light
const CREASE = 0.6; // rad; smaller angles between triangles are shaded as one surface

// three.js puts axes along y
const upright = (geometry) => geometry.rotateX(Math.PI / 2);

const makers = {
  sphere: ([radius]) => new SphereGeometry(radius, ROUND, ROUND / 2),
  capsule: ([radius, half]) => upright(new CapsuleGeometry(radius, 2 * half, ROUND / 4, ROUND)),
  cylinder: ([radius, half]) => upright(new CylinderGeometry(radius, radius, 2 * half, ROUND)),
  cone: ([radius, half]) => upright(new ConeGeometry(radius, 2 * half, ROUND)),
  ellipsoid: (radii) => new SphereGeometry(1, ROUND, ROUND / 2).scale(...radii),
  box: (half) => {
    const [least, edges] = [Math.min(...half), half.map((x) => 2 * x)];
    return least > 0 ? new RoundedBoxGeometry(...edges, 2, EDGE * least) : new BoxGeometry(...edges);
  },
};

// The geometry of a geom; null for a plane, which has no end, and for a mesh without triangles.
export function geometry(geom, data) {
  if (geom.kind in makers) return makers[geom.kind](geom.size);
  if (geom.kind === "mesh" || geom.kind === "terrain") return triangles(data.meshes[geom.mesh]);
  if (geom.kind === "hfield") return heights(data.fields[geom.field]);
  return null;
}

function indexed(positions, corners) {
  const out = new BufferGeometry();
  out.setAttribute("position", new BufferAttribute(positions, 3));
  out.setIndex(new BufferAttribute(corners, 1));
  return out;
}

function triangles(mesh) {
  const corners = integers(mesh.triangles);
  return corners.length > 0 ? toCreasedNormals(indexed(floats(mesh.vertices), corners), CREASE) : null;
}

// Each square is cut from its corner at −x, −y to that at +x, +y.
function heights({ half_size, rows, columns, heights }) {
  const z = floats(heights);
  const positions = new Float32Array(3 * z.length);
  const corners = [];
  for (let row = 0; row < rows; row++) {
    for (let column = 0; column < columns; column++) {
      const k = row * columns + column;
      positions[3 * k] = half_size[0] * ((2 * column) / (columns - 1) - 1);
      positions[3 * k + 1] = half_size[1] * ((2 * row) / (rows - 1) - 1);
      positions[3 * k + 2] = z[k];
      if (row + 1 < rows && column + 1 < columns) {
        corners.push(k, k + 1, k + columns + 1, k, k + columns + 1, k + columns);
      }
    }
  }
  const out = indexed(positions, new Uint32Array(corners));
  out.computeVertexNormals();
  return out;
}
