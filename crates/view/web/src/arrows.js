// Arrows and balls that shine faintly through what hides them, many at a time.

import {
  Color, ConeGeometry, CylinderGeometry, Group, InstancedMesh, Matrix4, MeshBasicMaterial, Quaternion, SphereGeometry, Vector3,
} from "three";

const HEAD = [3.2, 9]; // radius and length of a head, in radii of the shaft
const HIDDEN = 0.28; // how much of it shows through a body

const makers = {
  ball: () => new SphereGeometry(1, 20, 12),
  shaft: () => new CylinderGeometry(1, 1, 1, 16).translate(0, 0.5, 0),
  head: () => new ConeGeometry(1, 1, 24).translate(0, 0.5, 0),
};

// Twice the same shapes: as they are, and faintly through whatever hides them.
function twice(geometry, most) {
  const solid = new MeshBasicMaterial({ toneMapped: false });
  const ghost = new MeshBasicMaterial({ toneMapped: false, transparent: true, opacity: HIDDEN, depthTest: false, depthWrite: false });
  return [solid, ghost].map((material, k) => {
    const mesh = new InstancedMesh(geometry, material, most);
    mesh.setColorAt(0, new Color()); // makes room for colors
    mesh.frustumCulled = false;
    mesh.renderOrder = 2 - k; // the ghosts first, so that they do not dull what is seen
    return mesh;
  });
}

export class Arrows {
  // `most` arrows, each with one head or two; `thick` is the radius of a shaft (m).
  constructor(most, thick) {
    this.thick = thick;
    this.group = new Group();
    this.parts = {};
    for (const [kind, number] of [["ball", most], ["shaft", most], ["head", 2 * most]]) {
      const meshes = twice(makers[kind](), Math.max(number, 1));
      this.parts[kind] = { meshes, count: 0 };
      this.group.add(...meshes);
    }
  }

  begin() {
    for (const part of Object.values(this.parts)) part.count = 0;
  }

  ball(color, point, radius) {
    this.put("ball", color, point, upright, spare.setScalar(radius));
  }

  // From `point` along `direction` (a unit vector); two heads stand for a moment about it.
  arrow(color, point, direction, length, heads = 1) {
    const head = Math.min(HEAD[1] * this.thick, (0.6 / heads) * length);
    turn.setFromUnitVectors(up, direction);
    this.put("shaft", color, point, turn, spare.set(this.thick, length - head, this.thick));
    for (let k = 1; k <= heads; k++) {
      neck.copy(point).addScaledVector(direction, length - k * 0.8 * head - 0.2 * head);
      this.put("head", color, neck, turn, spare.set(HEAD[0] * this.thick, head, HEAD[0] * this.thick));
    }
  }

  put(kind, color, position, quaternion, size) {
    const part = this.parts[kind];
    matrix.compose(position, quaternion, size);
    for (const mesh of part.meshes) {
      mesh.setMatrixAt(part.count, matrix);
      mesh.setColorAt(part.count, color);
    }
    part.count += 1;
  }

  finish() {
    for (const { meshes, count } of Object.values(this.parts)) {
      for (const mesh of meshes) {
        mesh.count = count;
        mesh.instanceMatrix.needsUpdate = true;
        mesh.instanceColor.needsUpdate = true;
      }
    }
  }
}

const [up, spare, neck] = [new Vector3(0, 1, 0), new Vector3(), new Vector3()];
const [upright, turn, matrix] = [new Quaternion(), new Quaternion(), new Matrix4()];
