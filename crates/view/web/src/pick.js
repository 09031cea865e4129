// What is under the pointer: a contact, an arrow of a gradient, or a body.

import { Raycaster, Vector2, Vector3 } from "three";

const NEAR = { mouse: 12, pen: 16, touch: 26 }; // pixels

export class Pick {
  constructor(canvas, camera, { actor, contacts, gradients }) {
    Object.assign(this, { canvas, camera, actor, contacts, gradients });
    this.ray = new Raycaster();
  }

  // Place on the screen (pixels); null: behind the camera.
  screen(point) {
    place.copy(point).project(this.camera);
    if (place.z > 1) return null;
    return new Vector2(((place.x + 1) / 2) * this.canvas.clientWidth, ((1 - place.y) / 2) * this.canvas.clientHeight);
  }

  // The nearest contact or arrow within reach, else, if bodies are wanted, the body.
  at(x, y, frame, { pointer = "mouse", bodies = false } = {}) {
    const from = new Vector2(x, y);
    let [best, found] = [NEAR[pointer] ?? NEAR.mouse, null];
    const consider = (distance, what) => {
      if (distance < best) [best, found] = [distance, what];
    };
    if (this.contacts.group.visible) {
      this.contacts.motion.forContacts(frame, (contact) => {
        const at = this.contacts.isShown(contact) && this.screen(contact.point);
        if (at) consider(at.distanceTo(from), { kind: "contact", contact: contact.index });
      });
    }
    for (const mark of this.gradients.group.visible ? (this.gradients.marks ?? []) : []) {
      const [a, b] = [this.screen(mark.from), this.screen(mark.to)];
      if (a && b) consider(toSegment(from, a, b), mark);
    }
    return found ?? (bodies ? this.body(x, y) : null);
  }

  body(x, y) {
    const { clientWidth: width, clientHeight: height } = this.canvas;
    this.ray.setFromCamera(new Vector2((2 * x) / width - 1, 1 - (2 * y) / height), this.camera);
    const [hit] = this.ray.intersectObjects(this.actor.bodies.slice(1).filter((body) => body.visible), true).filter(isSeen);
    for (let object = hit?.object; object; object = object.parent) {
      const body = this.actor.bodies.indexOf(object);
      if (body > 0) return { kind: "body", body };
    }
    return null;
  }
}

function isSeen({ object }) {
  for (let o = object; o; o = o.parent) if (!o.visible) return false;
  return object.isMesh;
}

function toSegment(point, a, b) {
  const along = b.clone().sub(a);
  const part = Math.min(Math.max(point.clone().sub(a).dot(along) / Math.max(along.lengthSq(), 1e-9), 0), 1);
  return point.distanceTo(a.clone().addScaledVector(along, part));
}

const place = new Vector3();
