// The numbers of what is selected or under the pointer.

import { MODES } from "./contacts.js";
import { ofContact } from "./gradients.js";
import { shown } from "./scales.js";

const WORDS = { break: "open", stick: "sticks", slide: "slides" };

export class Card {
  constructor(data) {
    this.data = data;
    this.home = document.getElementById("card");
  }

  geom(number) {
    const { name, body } = this.data.robot.geoms[number] ?? {};
    return name || `geom ${number} of ${this.data.robot.bodies[body]?.name || "the world"}`;
  }

  hide() {
    this.home.hidden = true;
  }

  // `rows`: [word, text].
  fill(title, rows, flag) {
    const [head, list] = [document.createElement("h2"), document.createElement("dl")];
    head.textContent = title;
    for (const [word, text] of rows) {
      const [term, value] = [document.createElement("dt"), document.createElement("dd")];
      term.textContent = word;
      value.textContent = text;
      list.append(term, value);
    }
    this.home.replaceChildren(head, list);
    if (flag) {
      const note = document.createElement("p");
      note.className = "flag";
      note.textContent = flag;
      this.home.append(note);
    }
    this.home.hidden = false;
  }

  contact(contact, channel, frame) {
    const { force, normal, mode } = contact;
    const along = force.dot(normal);
    const across = Math.sqrt(Math.max(force.lengthSq() - along * along, 0));
    const rows = [
      ["mode", WORDS[MODES[mode]]],
      ["force", `${shown(force.length())} N`],
      ["normal, friction", `${shown(along)} N, ${shown(across)} N of at most ${shown(contact.friction * along)} N`],
      ["distance", `${shown(contact.distance)} m`],
      ["coefficient μ", shown(contact.friction)],
      ...margins(contact),
    ];
    if (channel) {
      const { friction } = channel.at(frame);
      for (const geom of new Set(contact.geoms)) {
        if (Number.isFinite(friction[geom])) rows.push([`∂/∂μ of ${this.geom(geom)}`, `${shown(friction[geom])} ${channel.unit}`]);
      }
      if (Number.isNaN(ofContact(contact, friction))) rows.push(["gradient", "not known at this frame"]);
    }
    const flag = contact.undecided && "Undecided between two modes: a derivative here may hold on one side only.";
    this.fill(`${this.geom(contact.geoms[0])} – ${this.geom(contact.geoms[1])}`, rows, flag);
  }

  body(number, position, channel, frame) {
    const { name } = this.data.robot.bodies[number];
    const rows = [["position", `${[...position].map((x) => shown(x)).join(", ")} m`]];
    const force = channel?.at(frame).forces.subarray(3 * (number - 1), 3 * number);
    if (force && !Number.isNaN(force[0])) {
      rows.push([`∂ ${channel.name} / ∂ force here`, `(${[...force].map((x) => shown(x)).join(", ")}) ${perUnit(channel.unit, "N")}`]);
    }
    this.fill(name || `body ${number}`, rows);
  }

  joint(joint, channel, frame) {
    const value = channel.at(frame).tau[joint.dof];
    this.fill(joint.name, [[`∂ ${channel.name} / ∂ ${joint.turns ? "torque" : "force"}`, `${shown(value)} ${perUnit(channel.unit, joint.turns ? "N·m" : "N")}`]]);
  }
}

export const perUnit = (unit, by) => `${unit.includes("/") ? `(${unit})` : unit || "1"}/${by}`;

// What Step.explain() says of a contact: how far it is from another mode.
function margins({ mode, margin, opens, slips, opening, slipping }) {
  const change = (speed, force) => `${shown(speed)} m/s${Number.isFinite(force) ? ` (${shown(force)} N)` : ""}`;
  if (Number.isNaN(opens)) return [["margin", `${shown(margin)} m/s`]];
  if (MODES[mode] === "break") return [["closes by", change(opens)]];
  const other = MODES[mode] === "stick" ? "slips by" : "sticks by";
  return [["opens by", change(opens, opening)], ...(Number.isFinite(slips) ? [[other, change(slips, slipping)]] : [])];
}
