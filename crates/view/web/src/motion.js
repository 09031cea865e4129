// Frames: where every body is, which contacts there are, and how the whole moves.

import { Box3, Quaternion, Vector3 } from "three";
import { doubles, floats, integers, octets } from "./data.js";

const POSE = 7; // numbers of a pose: position, quaternion (x, y, z, w)
const CONTACT = 16; // numbers of a contact, as `crates/view/src/marks.rs` writes them
const MODE = 3; // bits of a mode; the next one: a derivative may hold on one side only
const CALM = 0.4; // seconds before and after, over which the path of the camera is averaged

export class Motion {
  constructor(frames, bodies) {
    this.count = frames.count;
    this.bodies = bodies; // moving ones
    this.times = doubles(frames.times);
    this.poses = floats(frames.poses);
    this.status = octets(frames.status);
    this.ends = integers(frames.contacts.ends);
    this.geoms = integers(frames.contacts.geoms);
    this.contacts = floats(frames.contacts.numbers);
    this.modes = octets(frames.contacts.modes);
    this.curves = frames.curves.map((curve) => ({ ...curve, values: floats(curve.values) }));
    if (this.modes.length > 0) this.curves.splice(1, 0, this.normalForce());
    this.begin = this.times[0];
    this.end = this.times[this.count - 1];
  }

  // The last frame not after a time, and which part of the way to the next one has passed.
  at(time) {
    let [low, high] = [0, this.count - 1];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.times[middle] <= time) low = middle;
      else high = middle - 1;
    }
    const gap = low + 1 < this.count ? this.times[low + 1] - this.times[low] : 0;
    return [low, gap > 0 ? Math.min(Math.max((time - this.times[low]) / gap, 0), 1) : 0];
  }

  position(frame, body, out) {
    return out.fromArray(this.poses, POSE * (frame * this.bodies + body));
  }

  turn(frame, body, out) {
    return out.fromArray(this.poses, POSE * (frame * this.bodies + body) + 3);
  }

  // Moves the object of each moving body to its place between a frame and the next one.
  place(objects, frame, part) {
    const next = Math.min(frame + 1, this.count - 1);
    for (let body = 0; body < this.bodies; body++) {
      const { position, quaternion } = objects[body];
      this.position(frame, body, position).lerp(this.position(next, body, spare.position), part);
      this.turn(frame, body, quaternion).slerp(this.turn(next, body, spare.turn), part);
    }
  }

  // Which contacts a frame has.
  contactsOf(frame) {
    return [frame > 0 ? this.ends[frame - 1] : 0, this.ends[frame]];
  }

  // A contact by its number in the whole motion; the same object each time.
  contact(index) {
    const at = CONTACT * index;
    const [distance, friction, margin, opens, slips, opening, slipping] = this.contacts.subarray(at + 9, at + CONTACT);
    return Object.assign(spare.contact, {
      index, distance, friction, margin, opens, slips, opening, slipping,
      geoms: [this.geoms[2 * index], this.geoms[2 * index + 1]],
      point: spare.point.fromArray(this.contacts, at),
      force: spare.force.fromArray(this.contacts, at + 3),
      normal: spare.normal.fromArray(this.contacts, at + 6),
      mode: this.modes[index] & MODE,
      undecided: this.modes[index] > MODE,
    });
  }

  // Calls `each(contact)` for the contacts of a frame.
  forContacts(frame, each) {
    const [begin, end] = this.contactsOf(frame);
    for (let k = begin; k < end; k++) each(this.contact(k));
  }

  // The sum of normal forces, frame by frame.
  normalForce() {
    const values = new Float32Array(this.count);
    for (let frame = 0; frame < this.count; frame++) {
      this.forContacts(frame, ({ force, normal }) => (values[frame] += force.dot(normal)));
    }
    return { name: "normal force of all contacts", unit: "N", group: "motion and solver", values };
  }

  mostContacts() {
    let most = 0;
    this.ends.forEach((end, k) => (most = Math.max(most, end - (k > 0 ? this.ends[k - 1] : 0))));
    return most;
  }

  // A force that nine of ten are below, of those that are not zero.
  largeForce() {
    const forces = [];
    for (let k = 0; k < this.modes.length; k++) {
      const size = Math.hypot(...this.contacts.subarray(CONTACT * k + 3, CONTACT * k + 6));
      if (size > 0) forces.push(size);
    }
    forces.sort((a, b) => a - b);
    return forces[Math.floor(0.9 * forces.length)] ?? 1;
  }

  // Where the middle of all that moves is, frame by frame, and how far things reach from it. `balls` are around the shapes of
  // each moving body, in its frame: { center, radius }.
  path(balls) {
    const middles = new Float64Array(3 * this.count);
    const reach = [];
    const [center, turn] = [new Vector3(), new Quaternion()];
    const world = (frame, body) => {
      this.turn(frame, body, turn);
      return center.copy(balls[body].center).applyQuaternion(turn).add(this.position(frame, body, spare.position));
    };
    for (let frame = 0; frame < this.count; frame++) {
      const [low, high] = [new Vector3(Infinity, Infinity, Infinity), new Vector3(-Infinity, -Infinity, -Infinity)];
      let radius = 0;
      for (let body = 0; body < this.bodies; body++) {
        if (balls[body].radius === 0) continue;
        const r = balls[body].radius;
        low.min(world(frame, body).addScalar(-r));
        high.max(center.addScalar(2 * r));
      }
      const middle = low.x <= high.x ? low.clone().add(high).multiplyScalar(0.5) : new Vector3();
      for (let body = 0; body < this.bodies; body++) {
        if (balls[body].radius > 0) radius = Math.max(radius, world(frame, body).distanceTo(middle) + balls[body].radius);
      }
      middle.toArray(middles, 3 * frame);
      reach.push(radius);
    }
    const usual = [...reach].sort((a, b) => a - b)[Math.floor(reach.length / 2)];
    return { middles: averaged(middles, this.window()), radius: Math.max(reach[0], usual) || 1 };
  }

  // How far the largest tree of bodies reaches from its middle, in the first frame. `trees` has the tree of each moving body.
  largest(balls, trees) {
    const boxes = new Map(trees.map((tree) => [tree, new Box3()]));
    balls.forEach(({ center, radius }, body) => {
      if (radius === 0) return;
      this.turn(0, body, spare.turn);
      const at = center.clone().applyQuaternion(spare.turn).add(this.position(0, body, spare.position));
      boxes.get(trees[body]).union(new Box3().setFromCenterAndSize(at, new Vector3().setScalar(2 * radius)));
    });
    return Math.max(0, ...[...boxes.values()].map((box) => 0.5 * box.getSize(spare.point).length()));
  }

  // Frames on either side over which the camera's path is averaged.
  window() {
    const gap = (this.end - this.begin) / Math.max(this.count - 1, 1);
    return gap > 0 ? Math.round(CALM / gap) : 0;
  }
}

const [position, point, force, normal] = [new Vector3(), new Vector3(), new Vector3(), new Vector3()];
const spare = { position, turn: new Quaternion(), point, force, normal, contact: {} };

// Means over the neighbors of each frame, by sums from the start.
function averaged(points, window) {
  const count = points.length / 3;
  const sums = new Float64Array(points.length + 3);
  for (let i = 0; i < points.length; i++) sums[i + 3] = sums[i] + points[i];
  return points.map((_, i) => {
    const [frame, axis] = [Math.floor(i / 3), i % 3];
    // as many before as after, so that the ends of the path stay in place
    const side = Math.min(window, frame, count - 1 - frame);
    return (sums[3 * (frame + side + 1) + axis] - sums[3 * (frame - side) + axis]) / (2 * side + 1);
  });
}
