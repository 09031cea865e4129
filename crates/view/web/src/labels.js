// Names of bodies and axes of their frames.

import { AxesHelper, Vector3 } from "three";

const AXES = 0.16; // length of an axis, in radii of what moves

export class Labels {
  constructor(actor, camera, radius) {
    Object.assign(this, { actor, camera, names: false });
    this.home = document.getElementById("labels");
    this.spans = actor.data.bodies.slice(1).map(({ name }, k) => {
      const span = document.createElement("span");
      span.textContent = name || `body ${k + 1}`;
      return span;
    });
    this.axes = actor.bodies.slice(1).map((body) => {
      const axes = new AxesHelper(AXES * radius);
      axes.material.depthTest = false;
      axes.renderOrder = 3;
      axes.visible = false;
      body.add(axes);
      return axes;
    });
  }

  showNames(on) {
    this.names = on;
    this.home.replaceChildren(...(on ? this.spans : []));
  }

  showFrames(on) {
    this.axes.forEach((axes) => (axes.visible = on));
  }

  // Where the names are on the screen.
  place(width, height) {
    if (!this.names) return;
    this.actor.bodies.slice(1).forEach((body, k) => {
      place.setFromMatrixPosition(body.matrixWorld).project(this.camera);
      const [x, y] = [((place.x + 1) / 2) * width, ((1 - place.y) / 2) * height];
      this.spans[k].style.transform = `translate(${x.toFixed(1)}px, ${y.toFixed(1)}px) translate(-50%, -50%)`;
      this.spans[k].hidden = place.z > 1;
    });
  }
}

const place = new Vector3();
