// Other motions: behind the first one as ghosts, or beside it.

import { Color } from "three";
import { Actor } from "./actor.js";

const GHOST = new Color("#3c6fc4");

export class Companions {
  constructor(data, changed) {
    this.all = data.companions.map(({ name, offset, robot, frames }) => {
      const actor = new Actor(robot ?? data.robot, frames, changed);
      if (offset) actor.group.position.fromArray(offset);
      else actor.fade(GHOST);
      return { name, actor, beside: offset !== null };
    });
    this.groups = this.all.map(({ actor }) => actor.group);
  }

  // `time` (s) since the beginning.
  show(time) {
    this.all.forEach(({ actor }) => actor.placeAt(time));
  }

  set visible(on) {
    this.groups.forEach((group) => (group.visible = on));
  }
}
