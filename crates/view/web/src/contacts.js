// Contacts: a ball where it is, an arrow for the force, both in the color of what the contact does.

import {
  Color, ConeGeometry, CylinderGeometry, Group, InstancedMesh, Matrix4, MeshBasicMaterial, Quaternion, SphereGeometry, Vector3,
} from "three";

const MODES = ["break", "stick", "slide"]; // by number
const LONG = 0.55; // length of an arrow of a large force, in radii of what moves
const LONGEST = 1.5; // the same for any force
const THICK = 0.011; // radius of its shaft
const HEAD = [3.2, 9]; // radius and length of its head, in radii of the shaft
const BALL = 0.022; // radius of a ball
const HIDDEN = 0.28; // how much of it shows through a body

// The page's style has the colors, for the legend needs them too.
function colors() {
  return MODES.map((mode) => {
    const element = document.querySelector(`.mode.${mode}`);
    return new Color(getComputedStyle(element).getPropertyValue("--mode").trim());
  });
}

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

export class Contacts {
  constructor(motion, radius) {
    this.motion = motion;
    this.radius = radius;
    this.group = new Group();
    this.colors = colors();
    this.scale = (LONG * radius) / motion.largeForce();
    const most = Math.max(motion.mostContacts(), 1);
    const along = (geometry) => geometry.translate(0, 0.5, 0);
    this.balls = twice(new SphereGeometry(1, 20, 12), most);
    this.shafts = twice(along(new CylinderGeometry(1, 1, 1, 16)), most);
    this.heads = twice(along(new ConeGeometry(1, 1, 24)), most);
    this.group.add(...this.balls, ...this.shafts, ...this.heads);
  }

  show(frame) {
    let [balls, arrows] = [0, 0];
    this.motion.forContacts(frame, (point, force, mode) => {
      const color = this.colors[mode];
      put(this.balls, balls++, color, point, upright, spare.set(1, 1, 1).multiplyScalar(BALL * this.radius));
      if (force.lengthSq() > 0) this.arrow(arrows++, color, point, force);
    });
    finish(this.balls, balls);
    finish(this.shafts, arrows);
    finish(this.heads, arrows);
  }

  arrow(index, color, point, force) {
    const shaft = THICK * this.radius;
    const length = Math.min(this.scale * force.length(), LONGEST * this.radius);
    const head = Math.min(HEAD[1] * shaft, 0.6 * length);
    direction.copy(force).normalize();
    turn.setFromUnitVectors(up, direction);
    put(this.shafts, index, color, point, turn, spare.set(shaft, length - head, shaft));
    neck.copy(point).addScaledVector(direction, length - head);
    put(this.heads, index, color, neck, turn, spare.set(HEAD[0] * shaft, head, HEAD[0] * shaft));
  }
}

const [up, spare, direction, neck] = [new Vector3(0, 1, 0), new Vector3(), new Vector3(), new Vector3()];
const [upright, turn, matrix] = [new Quaternion(), new Quaternion(), new Matrix4()];

function put(meshes, index, color, position, quaternion, size) {
  matrix.compose(position, quaternion, size);
  for (const mesh of meshes) {
    mesh.setMatrixAt(index, matrix);
    mesh.setColorAt(index, color);
  }
}

function finish(meshes, count) {
  for (const mesh of meshes) {
    mesh.count = count;
    mesh.instanceMatrix.needsUpdate = true;
    mesh.instanceColor.needsUpdate = true;
  }
}
