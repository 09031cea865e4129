// `window.slipstick`: the page for scripts and tests.

export function script(hook, { data, world, player, menu, selection, plots, png, video, change }) {
  const { motion, gradients, camera } = world;
  const contact = (index) => {
    const { geoms, point, force, normal, ...rest } = motion.contact(index);
    return { ...rest, geoms: [...geoms], point: point.toArray(), force: force.toArray(), normal: normal.toArray() };
  };
  Object.assign(hook, {
    count: motion.count,
    bodies: data.robot.bodies.map(({ name }) => name),
    curves: motion.curves.map(({ name, group, unit }) => ({ name, group, unit })),
    gradients: gradients.all.map(({ name }) => name),
    play: () => player.play(),
    pause: () => {
      player.pause();
      change();
    },
    seek: (frame) => {
      player.pause();
      player.seek(frame);
    },
    look: (view) => camera.look({ ...camera.view, ...view }),
    bare: (on) => {
      document.body.classList.toggle("bare", on);
      change();
    },
    switches: () => Object.fromEntries([...menu.switches.keys()].map((id) => [id, menu.isOn(id)])),
    set: (id, on) => menu.set(id, on),
    contacts: (frame) => {
      const [begin, end] = motion.contactsOf(frame);
      return Array.from({ length: end - begin }, (_, k) => contact(begin + k));
    },
    select: (what) => selection.choose(what),
    screen: (point) => selection.pick.screen(camera.camera.position.clone().fromArray(point)).toArray(),
    curve: (name, group) => [...motion.curves.find((c) => c.name === name && (!group || c.group === group)).values],
    plot: (name) => plots.open(motion.curves.find((curve) => curve.name === name)),
    gradient: (name, frame) => {
      const { tau, forces, friction } = gradients.all.find((channel) => channel.name === name).at(frame);
      return { tau: [...tau], forces: [...forces], friction: [...friction] };
    },
    arrows: () => (gradients.marks ?? []).map(({ kind, body, joint, size, from, to }) => (
      { kind, body: body ?? joint.body, joint: joint?.name, size, from: from.toArray(), to: to.toArray() }
    )),
    body: (number) => world.actor.bodies[number].position.toArray(),
    changed: (number) => world.change.actor?.bodies[number].position.toArray(),
    changeSize: () => (world.change.actor ? world.change.size : 0),
    png,
    video,
  });
  Object.defineProperties(hook, {
    frame: { get: () => player.frame },
    time: { get: () => player.time },
    playing: { get: () => player.playing },
  });
}
