// Contacts: a ball where it is, an arrow for the force, both in the color of what the contact does; on request its friction cone.

import { Color, ConeGeometry, DoubleSide, Group, InstancedMesh, Matrix4, MeshBasicMaterial, Quaternion, Vector3 } from "three";
import { Arrows } from "./arrows.js";

export const MODES = ["break", "stick", "slide"]; // by number
const LONG = 0.55; // length of an arrow of a large force, in radii of what moves
const LONGEST = 1.5; // the same for any force
const THICK = 0.011; // radius of its shaft
const BALL = 0.022; // radius of a ball
const PICKED = 1.7; // the ball of the selected contact is larger
const STEEPEST = 4; // a cone is drawn with at most this coefficient of friction

// The page's style has the colors, for the legend needs them too.
function colors() {
  return MODES.map((mode) => {
    const element = document.querySelector(`.mode.${mode}`);
    return new Color(getComputedStyle(element).getPropertyValue("--mode").trim());
  });
}

export class Contacts {
  constructor(motion, radius) {
    this.motion = motion;
    this.radius = radius;
    this.colors = colors();
    this.near = false; // whether pairs that carry nothing are shown
    this.selected = -1;
    this.scale = (LONG * radius) / motion.largeForce(); // (m/N)
    const most = Math.max(motion.mostContacts(), 1);
    this.arrows = new Arrows(most, THICK * radius);
    this.cones = cones(most);
    this.cones.visible = false;
    this.group = new Group();
    this.group.add(this.arrows.group, this.cones);
  }

  isShown(contact) {
    return this.near || contact.mode !== 0;
  }

  show(frame) {
    let cone = 0;
    this.arrows.begin();
    this.motion.forContacts(frame, (contact) => {
      if (!this.isShown(contact)) return;
      const color = this.colors[contact.mode];
      const size = contact.index === this.selected ? PICKED : 1;
      this.arrows.ball(color, contact.point, size * BALL * this.radius);
      const force = contact.force.length();
      if (!(force > 0)) return;
      const length = Math.min(this.scale * force, LONGEST * this.radius);
      this.arrows.arrow(color, contact.point, direction.copy(contact.force).divideScalar(force), length);
      this.cone(cone++, color, contact, contact.force.dot(contact.normal));
    });
    this.arrows.finish();
    this.cones.count = cone;
    this.cones.instanceMatrix.needsUpdate = true;
    this.cones.instanceColor.needsUpdate = true;
  }

  // The cone that the force may not leave, as high as the normal force.
  cone(index, color, { point, normal, friction }, force) {
    const height = Math.min(this.scale * force, LONGEST * this.radius);
    const wide = Math.min(friction, STEEPEST) * height;
    turn.setFromUnitVectors(down, normal);
    matrix.compose(point, turn, size.set(wide, height, wide));
    this.cones.setMatrixAt(index, matrix);
    this.cones.setColorAt(index, color);
  }
}

// The tip at the origin, open along −y.
function cones(most) {
  const material = new MeshBasicMaterial({ transparent: true, opacity: 0.22, side: DoubleSide, depthWrite: false, toneMapped: false });
  const mesh = new InstancedMesh(new ConeGeometry(1, 1, 40, 1, true).translate(0, -0.5, 0), material, most);
  mesh.setColorAt(0, new Color());
  mesh.frustumCulled = false;
  return mesh;
}

const [down, direction, size] = [new Vector3(0, -1, 0), new Vector3(), new Vector3()];
const [turn, matrix] = [new Quaternion(), new Matrix4()];
