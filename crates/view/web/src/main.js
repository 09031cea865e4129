// The page of a replay: reads what it was given, builds the scene, and lets it play.

import { VIEWS } from "./camera.js";
import { read } from "./data.js";
import { FORCE, TORQUE } from "./gradients.js";
import { perUnit } from "./card.js";
import { Menu, choice } from "./menu.js";
import { panel } from "./panel.js";
import { Pick } from "./pick.js";
import { Player } from "./player.js";
import { Plots } from "./plots.js";
import { fileName, picture, record, save } from "./save.js";
import { Scales, shown } from "./scales.js";
import { Selection } from "./selection.js";
import { script } from "./script.js";
import { prefersDark, theme } from "./theme.js";
import { World } from "./world.js";

const STATUS = ["", "", "", "infeasible constraints", "not converged"]; // by number; what is worth a notice
const LAST = 300; // ms that a video stays on its last frame

// For tests and for those who script the page; what goes wrong anywhere is in `errors`.
const hook = { errors: [], rendered: 0 };
window.slipstick = hook;
const find = (id) => document.getElementById(id);

function trouble(message) {
  hook.errors.push(message);
  const box = find("trouble");
  box.textContent = `This motion cannot be shown: ${message}`;
  box.hidden = false;
}
window.addEventListener("error", (event) => trouble(event.message));
window.addEventListener("unhandledrejection", (event) => trouble(event.reason?.message ?? String(event.reason)));

// What the user should know about the step that led to a frame.
function notice(world, frame) {
  const word = STATUS[world.motion.status[frame]];
  find("notice").textContent = word;
  find("notice").hidden = !word;
}

// What the page does not show, as a list that opens.
function missing(warnings) {
  const note = find("missing");
  note.hidden = warnings.length === 0;
  note.firstChild.textContent = `${warnings.length} not shown`;
  note.lastChild.append(...warnings.map((text) => Object.assign(document.createElement("li"), { textContent: text })));
}

function switches(menu, data, world) {
  const { contacts, gradients, labels, change, companions, camera } = world;
  if (world.actor.any) menu.add("visual", "visual shapes", "v", true, (on) => world.actors.forEach((actor) => actor.show(on)));
  const some = world.motion.modes.length > 0;
  find("legend").hidden = !some;
  if (some) {
    menu.add("contacts", "contacts", "c", true, (on) => (contacts.group.visible = on));
    menu.add("near", "near pairs", "b", false, (on) => (contacts.near = on));
    menu.add("cones", "friction cones", "k", false, (on) => (contacts.cones.visible = on));
  }
  if (gradients.all.length > 0) menu.add("gradients", "gradients", "g", true, (on) => (gradients.group.visible = on));
  if (change.actor) menu.add("changed", "changed motion", "h", true, (on) => (change.visible = on));
  if (companions.all.length > 0) menu.add("companions", "other motions", "o", true, (on) => (companions.visible = on));
  menu.add("names", "names", "n", false, (on) => labels.showNames(on));
  menu.add("frames", "frames", "x", false, (on) => labels.showFrames(on));
  menu.add("follow", "camera follows", "f", true, (on) => (camera.follows = on));
  menu.add("dark", "dark", "d", prefersDark(), (on) => theme(on, world));
}

function bars({ contacts, gradients }) {
  const list = [];
  if (contacts.group.visible && contacts.motion.modes.length > 0) {
    list.push([contacts.colors[1].getStyle(), contacts.scale, "N"]);
  }
  if (gradients.group.visible && gradients.channel) {
    const { unit, large } = gradients.channel;
    list.push([FORCE.getStyle(), gradients.scale, perUnit(unit, "N")]);
    if (gradients.joints.length > 0) list.push([TORQUE.getStyle(), (gradients.scale * large.force) / large.torque, perUnit(unit, "N·m")]);
  }
  return list;
}

async function start() {
  const [data, canvas] = [await read(), find("canvas")];
  let stale = true;
  const change = () => (stale = true);
  const world = new World(data, canvas, change);
  const { motion, camera } = world;
  missing(data.warnings);

  const player = new Player(motion, (frame, part) => {
    selection.at(frame);
    world.show(frame, part, player.time);
    plots.show(frame);
    notice(world, frame);
    change();
  });
  const again = () => {
    world.show(player.frame, player.part, player.time);
    change();
  };
  const menu = new Menu(() => player.ready && again());
  const selection = new Selection(data, new Pick(canvas, camera.camera, world), () => {
    selection.at(player.frame);
    again();
  });
  const plots = new Plots(motion, world.companions.all.map(({ actor }) => actor.motion), (frame) => {
    player.pause();
    player.seek(frame);
  });

  switches(menu, data, world);
  menu.add("plots-switch", "plots", "p", false, (on) => {
    plots.home.hidden = !on;
    plots.draw();
  });
  choice("camera", VIEWS.map(([name]) => name), (k) => camera.look(VIEWS[k][1]));
  choice("gradient", world.gradients.all.map(({ name }) => name), (k) => {
    world.gradients.choice = k;
    again();
  });
  const sized = () => {
    if (!world.change.actor) return;
    world.change.part = find("size").valueAsNumber;
    find("size-text").value = `× ${shown(world.change.size)}`;
    if (player.ready) again();
  };
  choice("change", world.change.all.map(({ name }) => name), (k) => {
    world.change.choice = k;
    sized();
  });
  find("size").addEventListener("input", sized);
  sized();

  const png = () => picture(canvas);
  // From the first frame to the last, as fast as it is played.
  const video = async () => {
    player.seek(0);
    const recording = record(canvas);
    find("video").setAttribute("aria-pressed", "true");
    player.play({ once: () => setTimeout(recording.stop, LAST) }); // the last frame is seen, too
    const file = await recording.done;
    find("video").setAttribute("aria-pressed", "false");
    return file;
  };
  const saves = {
    picture: async () => save(await png(), fileName(data.title, "png")),
    video: async () => {
      if (find("video").getAttribute("aria-pressed") === "true") return player.finish();
      const file = await video();
      save(file, fileName(data.title, file.type.includes("mp4") ? "mp4" : "webm"));
    },
  };
  for (const [id, work] of Object.entries(saves)) find(id).addEventListener("click", work);

  const views = Object.fromEntries(VIEWS.map(([, view], k) => [String(k + 1), () => camera.look(view)]));
  const refresh = panel(player, {
    ...menu.keys(), ...views, r: () => camera.look(), s: saves.picture, m: saves.video,
    t: () => selection.next(), Escape: () => selection.choose(null),
  });
  camera.controls.addEventListener("change", change);

  const resize = () => {
    const { clientWidth: width, clientHeight: height } = canvas;
    if (width > 0 && height > 0) world.resize(width, height);
    change();
  };
  new ResizeObserver(resize).observe(canvas);
  resize();
  camera.look();

  const scales = new Scales();
  const draw = (now) => {
    player.tick(now);
    if (stale) {
      stale = false;
      refresh();
      selection.show();
      world.render(canvas.clientWidth, canvas.clientHeight);
      scales.show(bars(world), camera.sharpness(canvas.clientHeight));
      hook.rendered += 1;
    }
    requestAnimationFrame(draw);
  };
  script(hook, { data, world, player, menu, selection, plots, png, video, change });
  player.seek(0);
  player.ready = true;
  player.play();
  requestAnimationFrame(draw);
}

start().catch((error) => trouble(error.message));
