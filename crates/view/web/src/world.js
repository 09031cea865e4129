// Everything that is drawn, and how it follows the time.

import { Scene, Vector3 } from "three";
import { Actor } from "./actor.js";
import { Camera } from "./camera.js";
import { Change } from "./change.js";
import { Companions } from "./companions.js";
import { Contacts } from "./contacts.js";
import { Gradients } from "./gradients.js";
import { Labels } from "./labels.js";
import { sky } from "./sky.js";
import { grid, lights, plane, renderer } from "./stage.js";

const WIDE = 2; // how far marks of contacts may reach, in sizes of the largest tree of bodies

// Farthest that the middle goes from where it begins.
function roaming({ middles }, start) {
  let far = 0;
  for (let i = 0; i < middles.length; i += 3) far = Math.max(far, start.distanceTo(new Vector3().fromArray(middles, i)));
  return far;
}

export class World {
  // `changed()` is called when a picture of a texture has been read.
  constructor(data, canvas, changed) {
    this.scene = new Scene();
    this.screen = renderer(canvas);
    this.actor = new Actor(data.robot, data.frames, changed);
    this.motion = this.actor.motion;
    const { bodies, balls } = this.actor;
    const path = this.motion.path(balls);
    this.sun = lights(path.radius);
    this.dome = sky();
    // among many small bodies the marks of their contacts are small, too
    const size = WIDE * this.motion.largest(balls, data.robot.bodies.slice(1).map(({ tree }) => tree)) || path.radius;
    this.contacts = new Contacts(this.motion, Math.min(size, path.radius));
    this.gradients = new Gradients(data, this.actor, Math.min(size, path.radius));
    this.companions = new Companions(data, changed);
    this.change = new Change(data, path.radius, changed);
    this.camera = new Camera(canvas, path);
    this.labels = new Labels(this.actor, this.camera.camera, Math.min(size, path.radius));
    this.scene.add(this.dome, this.sun.group, this.actor.group, this.contacts.group, this.gradients.group, ...this.companions.groups);
    if (this.change.actor) this.scene.add(this.change.actor.group);
    this.grounds = this.ground(data.robot, bodies, path);
  }

  // Materials of the ground: discs for planes; lines where there is none.
  ground({ geoms }, bodies, path) {
    const start = new Vector3().fromArray(path.middles);
    const finest = this.screen.capabilities.getMaxAnisotropy();
    const discs = geoms.filter(({ kind }) => kind === "plane").map((geom) => {
      const disc = plane(geom, start, path.radius, roaming(path, start), finest);
      bodies[geom.body].add(disc);
      return disc.material;
    });
    const ground = discs.length > 0 || geoms.some(({ kind }) => kind === "hfield" || kind === "terrain");
    if (!ground) this.scene.add(grid(start, path.radius));
    return discs;
  }

  // A frame, and which part of the way to the next one has passed.
  show(frame, part, time) {
    this.actor.place(frame, part);
    this.companions.show(time - this.motion.begin);
    this.change.show(frame, part);
    this.contacts.show(frame);
    this.gradients.show(frame);
    this.camera.go(frame, part);
    this.sun.over(this.camera.middle);
  }

  resize(width, height) {
    this.screen.setPixelRatio(Math.min(window.devicePixelRatio, 2));
    this.screen.setSize(width, height, false);
    this.camera.resize(width, height);
  }

  render(width, height) {
    this.screen.render(this.scene, this.camera.camera);
    this.labels.place(width, height);
  }

  // All robots that are drawn.
  get actors() {
    return [this.actor, this.change.actor, ...this.companions.all.map(({ actor }) => actor)].filter(Boolean);
  }

  get lights() {
    return this.sun.group.children.filter((child) => child.isLight);
  }
}
