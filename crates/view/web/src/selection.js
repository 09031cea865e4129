// What is selected stays selected while the motion goes on; what is under the pointer is shown as long as it is there.

import { Vector3 } from "three";
import { Card } from "./card.js";

const STILL = 4; // pixels that a click may move

export class Selection {
  // `changed()` asks for another picture.
  constructor(data, pick, changed) {
    Object.assign(this, { pick, changed, card: new Card(data), chosen: null, hovered: null });
    const { canvas } = pick;
    canvas.addEventListener("pointermove", (event) => event.pointerType === "mouse" && event.buttons === 0 && this.hover(event));
    canvas.addEventListener("pointerleave", () => this.set("hovered", null));
    canvas.addEventListener("pointerdown", (event) => (this.down = event));
    canvas.addEventListener("pointerup", (event) => this.click(event));
  }

  set(which, what) {
    if (JSON.stringify(this[which]?.key) === JSON.stringify(what?.key)) return;
    this[which] = what;
    this.changed();
  }

  hover(event) {
    this.set("hovered", this.keyed(this.pick.at(event.offsetX, event.offsetY, this.frame)));
  }

  click(event) {
    if (!this.down || Math.hypot(event.offsetX - this.down.offsetX, event.offsetY - this.down.offsetY) > STILL) return;
    this.choose(this.pick.at(event.offsetX, event.offsetY, this.frame, { pointer: event.pointerType, bodies: true }));
  }

  choose(what) {
    this.set("chosen", this.keyed(what));
  }

  // The next contact of the frame, for the keyboard.
  next() {
    const { contacts } = this.pick;
    const shown = [];
    contacts.motion.forContacts(this.frame, (contact) => contacts.isShown(contact) && shown.push(contact.index));
    const now = shown.indexOf(this.chosen?.kind === "contact" ? this.chosen.contact : -1);
    if (shown.length > 0) this.choose({ kind: "contact", contact: shown[(now + 1) % shown.length] });
  }

  // What tells it from others, also in other frames.
  keyed(what) {
    if (what?.kind !== "contact") return what && { ...what, key: [what.kind, what.body ?? what.joint?.name] };
    const { geoms, point } = this.pick.contacts.motion.contact(what.contact);
    return { ...what, geoms, point: point.clone(), key: ["contact", what.contact] };
  }

  // Another frame: a selected contact goes on as the nearest one of its pair.
  at(frame) {
    if (this.frame !== frame) this.hovered = null;
    this.frame = frame;
    if (this.chosen?.kind === "contact") this.follow();
    this.pick.contacts.selected = this.chosen?.kind === "contact" ? this.chosen.contact : -1;
  }

  follow() {
    let [best, found] = [Infinity, -1];
    this.pick.contacts.motion.forContacts(this.frame, ({ geoms, point, index }) => {
      const distance = point.distanceTo(this.chosen.point);
      const same = geoms[0] === this.chosen.geoms[0] && geoms[1] === this.chosen.geoms[1];
      if (same && distance < best) [best, found] = [distance, index];
    });
    this.chosen.contact = found;
    if (found >= 0) this.chosen.point.copy(this.pick.contacts.motion.contact(found).point);
  }

  show() {
    const what = this.hovered ?? this.chosen;
    const { contacts, gradients, actor } = this.pick;
    const channel = gradients.group.visible ? gradients.channel : undefined;
    if (what?.kind === "contact") {
      if (what.contact >= 0) this.card.contact(contacts.motion.contact(what.contact), channel, this.frame);
      else this.card.fill("contact", [["mode", "not near at this frame"]]);
    } else if (what?.kind === "joint" && channel) {
      this.card.joint(what.joint, channel, this.frame);
    } else if (what?.kind === "body" || what?.kind === "force") {
      this.card.body(what.body, actor.bodies[what.body].getWorldPosition(place), channel, this.frame);
    } else {
      this.card.hide();
    }
  }
}

const place = new Vector3();
