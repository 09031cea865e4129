// The page of a replay: reads what it was given, builds the scene, and lets it play.

import { Scene, Vector3 } from "three";
import { Camera } from "./camera.js";
import { Contacts } from "./contacts.js";
import { read } from "./data.js";
import { Motion } from "./motion.js";
import { panel } from "./panel.js";
import { Player } from "./player.js";
import { robot } from "./robot.js";
import { sky } from "./sky.js";
import { grid, lights, plane, renderer } from "./stage.js";

const WIDE = 2; // how far marks of contacts may reach, in sizes of the largest tree of bodies

// For tests and for those who script the page; what goes wrong anywhere is in `errors`.
const hook = { errors: [], rendered: 0 };
window.slipstick = hook;

function trouble(message) {
  hook.errors.push(message);
  const box = document.getElementById("trouble");
  box.textContent = `This motion cannot be shown: ${message}`;
  box.hidden = false;
}
window.addEventListener("error", (event) => trouble(event.message));

// Farthest that the middle goes from where it begins.
function roaming({ middles }, start) {
  let far = 0;
  for (let i = 0; i < middles.length; i += 3) far = Math.max(far, start.distanceTo(new Vector3().fromArray(middles, i)));
  return far;
}

function build(data, motion, canvas) {
  const [scene, { bodies, balls }] = [new Scene(), robot(data)];
  const [path, screen] = [motion.path(balls), renderer(canvas)];
  const start = new Vector3().fromArray(path.middles);
  const sun = lights(path.radius);
  // among many small bodies the marks of their contacts are small, too
  const size = WIDE * motion.largest(balls, data.bodies.slice(1).map(({ tree }) => tree)) || path.radius;
  const contacts = new Contacts(motion, Math.min(size, path.radius));
  scene.add(sky(), sun.group, ...bodies, contacts.group);
  const planes = data.geoms.filter((geom) => geom.kind === "plane");
  const finest = screen.capabilities.getMaxAnisotropy();
  for (const geom of planes) {
    bodies[geom.body].add(plane(geom, start, path.radius, roaming(path, start), finest));
  }
  const ground = planes.length > 0 || data.geoms.some((geom) => geom.kind === "hfield" || geom.kind === "terrain");
  if (!ground) scene.add(grid(start, path.radius));
  return { scene, screen, bodies, contacts, sun, camera: new Camera(canvas, path) };
}

async function start() {
  const [data, canvas] = [await read(), document.getElementById("canvas")];
  const motion = new Motion(data.frames, data.bodies.length - 1);
  const { scene, screen, bodies, contacts, sun, camera } = build(data, motion, canvas);
  let stale = true;

  const player = new Player(motion, (frame, part) => {
    motion.place(bodies.slice(1), frame, part);
    contacts.show(frame);
    camera.go(frame, part);
    sun.over(camera.middle);
    stale = true;
  });
  const redraw = (work) => (...values) => {
    work(...values);
    stale = true;
  };
  const refresh = panel(player, {
    contacts: redraw((on) => (contacts.group.visible = on)),
    follow: (on) => (camera.follows = on),
    reset: () => camera.look(),
  });
  camera.controls.addEventListener("change", () => (stale = true));

  const resize = redraw(() => {
    const { clientWidth: width, clientHeight: height } = canvas;
    if (width === 0 || height === 0) return;
    screen.setPixelRatio(Math.min(window.devicePixelRatio, 2));
    screen.setSize(width, height, false);
    camera.resize(width, height);
  });
  new ResizeObserver(resize).observe(canvas);
  resize();
  camera.look();

  const draw = (now) => {
    player.tick(now);
    if (stale) {
      stale = false;
      refresh();
      screen.render(scene, camera.camera);
      hook.rendered += 1;
    }
    requestAnimationFrame(draw);
  };

  Object.assign(hook, {
    count: motion.count,
    play: () => player.play(),
    pause: redraw(() => player.pause()),
    seek: (frame) => {
      player.pause();
      player.seek(frame);
    },
    look: (view) => camera.look({ ...camera.view, ...view }),
    bare: redraw((on) => document.body.classList.toggle("bare", on)),
    contacts: redraw((on) => (contacts.group.visible = on)),
  });
  Object.defineProperties(hook, {
    frame: { get: () => player.frame },
    time: { get: () => player.time },
    playing: { get: () => player.playing },
  });
  player.seek(0);
  player.play();
  requestAnimationFrame(draw);
}

start().catch((error) => trouble(error.message));
