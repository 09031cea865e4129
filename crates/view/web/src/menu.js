// What is shown or not: a button and a key each.

const find = (id) => document.getElementById(id);

export class Menu {
  constructor(changed) {
    this.changed = changed;
    this.switches = new Map();
  }

  // `apply(on)` is called now and after each change.
  add(id, label, key, on, apply) {
    const button = Object.assign(document.createElement("button"), { type: "button", id, textContent: label });
    button.title = key ? `${label} (${key.toUpperCase()})` : label;
    find("switches").append(button);
    const entry = { button, key, apply };
    this.switches.set(id, entry);
    button.addEventListener("click", () => this.toggle(id));
    this.set(id, on);
  }

  isOn(id) {
    return this.switches.get(id).button.getAttribute("aria-pressed") === "true";
  }

  set(id, on) {
    const { button, apply } = this.switches.get(id);
    button.setAttribute("aria-pressed", on);
    apply(on);
    this.changed();
  }

  toggle(id) {
    this.set(id, !this.isOn(id));
  }

  keys() {
    const entries = [...this.switches].filter(([, { key }]) => key);
    return Object.fromEntries(entries.map(([id, { key }]) => [key, () => this.toggle(id)]));
  }
}

// A choice among names, with a row that is hidden where there is nothing to choose.
export function choice(id, names, apply) {
  const select = find(id);
  select.append(...names.map((name, k) => new Option(name, k)));
  select.addEventListener("change", () => apply(Number(select.value)));
  const row = find(`${id}-row`);
  if (row) row.hidden = names.length === 0;
}
