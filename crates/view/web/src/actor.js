// A robot that moves: its bodies, and where they are at a time.

import { Group } from "three";
import { Motion } from "./motion.js";
import { robot } from "./robot.js";

const FAINT = 0.32; // opacity of a ghost

export class Actor {
  // `data`: the robot; `frames`: its motion; `changed()` is called when a picture of a texture has been read.
  constructor(data, frames, changed) {
    this.data = data;
    this.motion = new Motion(frames, data.bodies.length - 1);
    Object.assign(this, robot(data, changed)); // bodies, balls, any, show
    this.group = new Group();
    this.group.add(...this.bodies);
  }

  // Makes it translucent and without shadows; `tint` colors it.
  fade(tint) {
    this.group.traverse((object) => {
      if (!object.isMesh) return;
      object.castShadow = object.receiveShadow = false;
      object.material = object.material.clone();
      Object.assign(object.material, { transparent: true, opacity: FAINT, depthWrite: false });
      if (tint) object.material.color.lerp(tint, 0.75);
    });
    this.bodies[0].visible = false; // the ground is there already
    return this;
  }

  place(frame, part) {
    this.motion.place(this.bodies.slice(1), frame, part);
  }

  // Where it is at a time (s) after the beginning of its motion.
  placeAt(time) {
    this.place(...this.motion.at(Math.min(this.motion.begin + time, this.motion.end)));
  }
}
