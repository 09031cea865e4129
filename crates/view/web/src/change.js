// The ghost of the perturbed motion: every body moved along its first-order change, as far as the slider says.

import { Color, Quaternion, Vector3 } from "three";
import { Actor } from "./actor.js";
import { floats } from "./data.js";

const TINT = new Color("#8e24aa");
const TWIST = 6; // numbers of a change: velocity of the origin, angular velocity
const REACH = 0.6; // how far the slider moves what changes most, in radii of what moves
const TURN = 1.2; // the same for rotations (rad)

export class Change {
  constructor(data, radius, changed) {
    this.all = data.changes.map(({ name, twists }) => ({ name, twists: floats(twists) }));
    this.visible = this.all.length > 0;
    if (!this.visible) return;
    this.actor = new Actor(data.robot, data.frames, changed).fade(TINT);
    this.all.forEach((change) => (change.most = most(change.twists, radius)));
    this.choice = 0;
    this.part = 0.5;
  }

  // How large the change is: a factor of the perturbation.
  get size() {
    return this.part * this.all[this.choice].most;
  }

  show(frame, part) {
    if (!this.actor) return;
    const twists = this.all[this.choice].twists;
    const bodies = this.actor.bodies.slice(1);
    const known = !Number.isNaN(twists[TWIST * bodies.length * frame]);
    this.actor.group.visible = this.visible && known;
    if (!known) return;
    this.actor.place(frame, part);
    bodies.forEach((body, k) => {
      const at = TWIST * (bodies.length * frame + k);
      body.position.addScaledVector(step.fromArray(twists, at), this.size);
      const angle = step.fromArray(twists, at + 3).length();
      if (angle > 0) body.quaternion.premultiply(turn.setFromAxisAngle(step.divideScalar(angle), angle * this.size));
    });
  }
}

// The factor at which the largest change of the motion is still a picture.
function most(twists, radius) {
  let [lin, ang] = [0, 0];
  for (let k = 0; k + TWIST <= twists.length; k += TWIST) {
    lin = Math.max(lin, Math.hypot(...twists.subarray(k, k + 3)) || 0);
    ang = Math.max(ang, Math.hypot(...twists.subarray(k + 3, k + TWIST)) || 0);
  }
  const factor = Math.min(lin > 0 ? (REACH * radius) / lin : Infinity, ang > 0 ? TURN / ang : Infinity);
  return Number.isFinite(factor) ? factor : 1;
}

const [step, turn] = [new Vector3(), new Quaternion()];
