// The camera: turned around a point by hand, which goes along with the motion if that is wanted.

import { PerspectiveCamera, Vector3 } from "three";
import { OrbitControls } from "three/examples/jsm/controls/OrbitControls.js";

const VIEW = { azimuth: -58, elevation: 17, zoom: 1 }; // degrees; the first view
// Views to choose from, by number keys. x is forward, as in most files of robots.
export const VIEWS = [
  ["first", VIEW],
  ["front", { azimuth: 0, elevation: 4, zoom: 1 }],
  ["left", { azimuth: 90, elevation: 4, zoom: 1 }],
  ["back", { azimuth: 180, elevation: 4, zoom: 1 }],
  ["right", { azimuth: -90, elevation: 4, zoom: 1 }],
  ["top", { azimuth: -90, elevation: 89.9, zoom: 1 }],
  ["close", { azimuth: -58, elevation: 12, zoom: 2.2 }],
];
const ROOM = 1.2; // distance beyond what just fits

export class Camera {
  constructor(canvas, path) {
    this.path = path;
    this.follows = true;
    this.camera = new PerspectiveCamera(32, 1, 0.02 * path.radius, 400 * path.radius);
    this.camera.up.set(0, 0, 1);
    this.middle = new Vector3().fromArray(path.middles);
    this.controls = new OrbitControls(this.camera, canvas);
    this.controls.maxPolarAngle = 0.53 * Math.PI; // hardly below the ground
    this.controls.minDistance = 0.2 * path.radius;
    this.controls.maxDistance = 60 * path.radius;
    this.look();
  }

  // Looks at the middle from a direction (degrees), `zoom` times nearer than what shows everything.
  look({ azimuth, elevation, zoom } = VIEW) {
    this.view = { azimuth, elevation, zoom };
    const [a, e] = [azimuth, elevation].map((degrees) => (degrees * Math.PI) / 180);
    const narrow = Math.min(1, this.camera.aspect); // a high window shows less to the sides
    const distance = (ROOM * this.path.radius) / Math.sin((this.camera.fov * Math.PI) / 360) / narrow / zoom;
    const from = new Vector3(Math.cos(e) * Math.cos(a), Math.cos(e) * Math.sin(a), Math.sin(e));
    this.controls.target.copy(this.middle);
    this.camera.position.copy(this.middle).addScaledVector(from, distance);
    this.controls.update();
  }

  // Pixels per meter at the point that is looked at.
  sharpness(height) {
    const distance = this.camera.position.distanceTo(this.controls.target);
    return height / (2 * distance * Math.tan((this.camera.fov * Math.PI) / 360));
  }

  resize(width, height) {
    this.camera.aspect = width / height;
    this.camera.updateProjectionMatrix();
  }

  // Goes along to the middle of a frame.
  go(frame, part) {
    const next = Math.min(3 * frame + 3, this.path.middles.length - 3);
    const middle = new Vector3().fromArray(this.path.middles, 3 * frame);
    middle.lerp(new Vector3().fromArray(this.path.middles, next), part);
    if (this.follows) {
      const way = middle.clone().sub(this.middle);
      this.camera.position.add(way);
      this.controls.target.add(way);
      this.controls.update();
    }
    this.middle.copy(middle);
  }
}
