// A gradient on the picture: arrows for forces on bodies, double-headed ones for torques of joints (by the right-hand rule), discs
// for friction at contacts.

import { CircleGeometry, Color, DoubleSide, Group, InstancedMesh, Matrix4, MeshBasicMaterial, Quaternion, Vector3 } from "three";
import { Arrows } from "./arrows.js";
import { floats } from "./data.js";

export const FORCE = new Color("#c2185b");
export const TORQUE = new Color("#1565c0");
const RISES = new Color("#d32f2f"); // more friction, more of the output
const FALLS = new Color("#1976d2");
const LONG = 0.6; // length of a large arrow, in radii of what moves
const THICK = 0.009;
const DISC = 0.085; // radius of the largest disc
const LEAST = 0.02; // arrows shorter than this share of a large one are left out

export class Gradients {
  constructor(data, actor, radius) {
    this.actor = actor;
    this.radius = radius;
    this.all = data.gradients.map(({ name, unit, widths, values }) => new Channel(name, unit, widths, floats(values)));
    this.choice = 0;
    this.group = new Group();
    this.group.visible = false;
    const { bodies, joints } = data.robot;
    Object.assign(this, { joints, centers: bodies.map(({ com }) => new Vector3().fromArray(com)) });
    this.arrows = new Arrows(bodies.length + joints.length, THICK * radius);
    this.discs = discs(Math.max(actor.motion.mostContacts(), 1));
    this.group.add(this.arrows.group, this.discs);
  }

  get channel() {
    return this.all[this.choice];
  }

  show(frame) {
    if (!this.group.visible || !this.channel) return;
    const { forces, tau, friction } = this.channel.at(frame);
    this.arrows.begin();
    this.marks = []; // what is drawn, to be picked
    for (let body = 1; body < this.actor.bodies.length; body++) {
      vector.fromArray(forces, 3 * (body - 1));
      point.copy(this.centers[body]).applyMatrix4(this.world(body));
      this.arrow(FORCE, vector.length(), this.channel.large.force, 1, { kind: "force", body });
    }
    for (const joint of this.joints) {
      const world = this.world(joint.body);
      point.fromArray(joint.anchor).applyMatrix4(world);
      vector.fromArray(joint.axis).transformDirection(world).multiplyScalar(Math.sign(tau[joint.dof]));
      this.arrow(TORQUE, Math.abs(tau[joint.dof]), this.channel.large.torque, joint.turns ? 2 : 1, { kind: "joint", joint });
    }
    this.arrows.finish();
    this.showFriction(frame, friction);
  }

  world(body) {
    this.actor.bodies[body].updateMatrixWorld();
    return this.actor.bodies[body].matrixWorld;
  }

  arrow(color, size, large, heads, mark) {
    const length = ((LONG * this.radius) / large) * size;
    if (!(size > LEAST * large)) return;
    this.arrows.arrow(color, point, vector.normalize(), Math.min(length, 3 * LONG * this.radius), heads);
    const tip = point.clone().addScaledVector(vector, length);
    this.marks.push({ ...mark, from: point.clone(), to: tip, size });
  }

  showFriction(frame, friction) {
    let count = 0;
    this.actor.motion.forContacts(frame, (contact) => {
      const value = ofContact(contact, friction);
      if (!(Math.abs(value) > 0)) return;
      const size = DISC * this.radius * Math.sqrt(Math.min(Math.abs(value) / this.channel.large.friction, 1));
      turn.setFromUnitVectors(forward, contact.normal);
      point.copy(contact.point).addScaledVector(contact.normal, 0.004 * this.radius);
      this.discs.setMatrixAt(count, matrix.compose(point, turn, vector.setScalar(size)));
      this.discs.setColorAt(count++, value > 0 ? RISES : FALLS);
    });
    this.discs.count = count;
    this.discs.instanceMatrix.needsUpdate = true;
    this.discs.instanceColor.needsUpdate = true;
  }

  // What an arrow of a large value stands for: (m) per unit of force.
  get scale() {
    return (LONG * this.radius) / this.channel.large.force;
  }
}

// How the output changes with the friction of both geoms of a contact.
export function ofContact({ geoms }, friction) {
  const [a, b] = geoms.map((geom) => friction[geom]);
  return geoms[0] === geoms[1] ? a : a + b;
}

class Channel {
  constructor(name, unit, [nv, forces, friction], values) {
    Object.assign(this, { name, unit, nv, forces, friction, values });
    const row = nv + forces + friction;
    const sizes = { force: [], torque: [], friction: [] };
    for (let at = 0; at < values.length; at += row) {
      for (let k = 0; k < nv; k++) sizes.torque.push(Math.abs(values[at + k]));
      for (let k = 0; k < forces; k += 3) sizes.force.push(Math.hypot(...values.subarray(at + nv + k, at + nv + k + 3)));
      for (let k = 0; k < friction; k++) sizes.friction.push(Math.abs(values[at + nv + forces + k]));
    }
    this.large = Object.fromEntries(Object.entries(sizes).map(([kind, all]) => [kind, large(all)]));
  }

  at(frame) {
    const [begin, middle] = [frame * (this.nv + this.forces + this.friction), this.nv + this.forces];
    return {
      tau: this.values.subarray(begin, begin + this.nv),
      forces: this.values.subarray(begin + this.nv, begin + middle),
      friction: this.values.subarray(begin + middle, begin + middle + this.friction),
    };
  }
}

// A size that nineteen of twenty are below, of those that are not zero.
function large(sizes) {
  const some = sizes.filter((x) => x > 0).sort((a, b) => a - b);
  return some[Math.floor(0.95 * some.length)] ?? 1;
}

function discs(most) {
  const material = new MeshBasicMaterial({ transparent: true, opacity: 0.75, side: DoubleSide, depthWrite: false, toneMapped: false });
  const mesh = new InstancedMesh(new CircleGeometry(1, 40), material, most);
  mesh.setColorAt(0, new Color());
  mesh.frustumCulled = false;
  mesh.renderOrder = 1;
  return mesh;
}

const [point, vector, forward] = [new Vector3(), new Vector3(), new Vector3(0, 0, 1)];
const [turn, matrix] = [new Quaternion(), new Matrix4()];
