// Checks of a replay, one per feature, for what the page has: each says what it saw.

const near = (a, b, tolerance) => Math.abs(a - b) <= tolerance * Math.max(1, Math.abs(b));

// A frame with a contact that carries something; null where there is none.
const LOADED = `(() => {
  for (let frame = 0; frame < slipstick.count; frame++) {
    const found = slipstick.contacts(frame).find((contact) => contact.mode > 0);
    if (found) return { frame, contact: found };
  }
  return null;
})()`;

const drawn = async (browser, work) => {
  const before = await browser.value(`${work}, slipstick.rendered`);
  await browser.until(`slipstick.rendered > ${before}`, work);
};
const pointer = (browser, type, [x, y]) => browser.ask("Input.dispatchMouseEvent", {
  type, x, y, button: type === "mouseMoved" ? "none" : "left", buttons: type === "mousePressed" ? 1 : 0, clickCount: type === "mouseMoved" ? 0 : 1,
});
const card = (browser) => browser.value("document.getElementById('card').hidden ? '' : document.getElementById('card').textContent");

// Every switch of the menu, by its button and by its key; afterwards as it was.
async function switches(browser, demand) {
  const before = await browser.value("slipstick.switches()");
  for (const [id, on] of Object.entries(before)) {
    await drawn(browser, `document.getElementById(${JSON.stringify(id)}).click()`);
    demand((await browser.value(`slipstick.switches()[${JSON.stringify(id)}]`)) === !on, `the switch ${id} does nothing`);
    const title = await browser.value(`document.getElementById(${JSON.stringify(id)}).title`);
    const key = title.match(/\((\w)\)$/)?.[1].toLowerCase();
    demand(key, `the switch ${id} has no key`);
    await drawn(browser, `window.dispatchEvent(new KeyboardEvent("keydown", { key: "${key}" }))`);
    demand((await browser.value(`slipstick.switches()[${JSON.stringify(id)}]`)) === on, `key ${key} does not switch ${id}`);
  }
  return `${Object.keys(before).length} switches`;
}

// Contacts: a click and the pointer show their numbers, the keyboard finds them.
async function contacts(browser, demand) {
  const found = await browser.value(LOADED);
  if (!found) return "no contact that carries anything";
  const { frame, contact } = found;
  await drawn(browser, `slipstick.seek(${frame})`);
  const force = Math.hypot(...contact.force);
  const place = await browser.value(`slipstick.screen(${JSON.stringify(contact.point)})`);
  await pointer(browser, "mouseMoved", place);
  await browser.until("!document.getElementById('card').hidden", "the numbers of a contact under the pointer");
  const hovered = await card(browser);
  demand(/force/.test(hovered) && / N/.test(hovered) && /distance/.test(hovered), `the card of a contact says '${hovered}'`);
  await pointer(browser, "mouseMoved", [3, 300]);
  await browser.until("document.getElementById('card').hidden", "the card to go away");
  await pointer(browser, "mousePressed", place);
  await pointer(browser, "mouseReleased", place);
  await browser.until("!document.getElementById('card').hidden", "the numbers of a contact that was clicked");
  await browser.value("slipstick.select(null)");
  await drawn(browser, `window.dispatchEvent(new KeyboardEvent("keydown", { key: "t" }))`);
  demand((await card(browser)) !== "", "key t selects no contact");
  await drawn(browser, `window.dispatchEvent(new KeyboardEvent("keydown", { key: "Escape" }))`);
  demand((await card(browser)) === "", "Escape leaves the contact selected");
  const bars = await browser.value("document.querySelectorAll('#scales .scale').length");
  demand(bars > 0, "there is no scale bar for arrows");
  return `a contact of ${force.toPrecision(3)} N shows its numbers`;
}

// Plots: curves are there, a click seeks.
async function plots(browser, demand) {
  const count = await browser.value("slipstick.count");
  await browser.value("slipstick.set('plots-switch', true)");
  await browser.until("document.querySelectorAll('#curves canvas').length > 0", "curves");
  const [box, curves] = await browser.value(`[(({ left, top, width, height }) => [left + 0.75 * width, top + height / 2])(
    document.querySelector("#curves canvas").getBoundingClientRect()), slipstick.curves.length]`);
  await pointer(browser, "mousePressed", box);
  await pointer(browser, "mouseReleased", box);
  const frame = await browser.value("slipstick.frame");
  demand(near(frame, 0.75 * (count - 1), 0.05), `a click at three quarters of a plot shows frame ${frame} of ${count}`);
  const inked = await browser.value(`(() => {
    const canvas = document.querySelector("#curves canvas");
    return canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data.some((x) => x > 0);
  })()`);
  demand(inked, "the plot is empty");
  await browser.value("slipstick.set('plots-switch', false)");
  return `${curves} curves`;
}

// Export: a picture and a video have contents.
async function files(browser, demand) {
  const png = await browser.value("slipstick.png().then(async (file) => [file.type, ...new Uint8Array(await file.arrayBuffer()).slice(0, 4)])");
  demand(png[0] === "image/png" && png[2] === 80, `the picture is ${png}`);
  await browser.value("document.getElementById('speed').value = '4', document.getElementById('speed').dispatchEvent(new Event('change'))");
  const video = await browser.value("slipstick.video().then((file) => [file.type, file.size])");
  demand(/^video\//.test(video[0]) && video[1] > 1000, `the video is ${video}`);
  demand(!(await browser.value("slipstick.playing")), "it plays on after the video");
  return `a video of ${video[1]} bytes`;
}

// Gradients: arrows have the sizes and directions of the numbers.
async function gradients(browser, demand) {
  const names = await browser.value("slipstick.gradients");
  if (names.length === 0) return null;
  const frame = await browser.value("Math.floor(slipstick.count / 2)");
  await drawn(browser, `slipstick.seek(${frame})`);
  const arrows = await browser.value("slipstick.arrows()");
  const { tau, forces } = await browser.value(`slipstick.gradient(${JSON.stringify(names[0])}, ${frame})`);
  demand(arrows.length > 0, "there is no arrow of a gradient");
  for (const arrow of arrows.filter(({ kind }) => kind === "force")) {
    const force = forces.slice(3 * (arrow.body - 1), 3 * arrow.body);
    const along = arrow.to.map((x, k) => x - arrow.from[k]);
    const cosine = force.reduce((sum, x, k) => sum + x * along[k], 0) / (Math.hypot(...force) * Math.hypot(...along));
    demand(near(arrow.size, Math.hypot(...force), 1e-6) && cosine > 1 - 1e-9, `arrow of body ${arrow.body}: ${JSON.stringify(arrow)} for ${force}`);
  }
  for (const { joint, size } of arrows.filter(({ kind }) => kind === "joint")) {
    demand(tau.some((x) => near(Math.abs(x), size, 1e-12)), `the arrow of ${joint} has size ${size}, which no torque has`);
  }
  return `${arrows.length} arrows of a gradient`;
}

// The ghost of the perturbed motion moves with the slider.
async function change(browser, demand) {
  const there = await browser.value("slipstick.changeSize() !== 0");
  if (!there) return null;
  await drawn(browser, "slipstick.seek(Math.floor(slipstick.count / 2))");
  const at = async (part) => {
    await browser.value(`document.getElementById('size').value = ${part}, document.getElementById('size').dispatchEvent(new Event('input'))`);
    return browser.value("slipstick.changed(1)");
  };
  const [one, two, none] = [await at(0.5), await at(1), await at(0)];
  const body = await browser.value("slipstick.body(1)");
  const away = (x) => Math.hypot(...x.map((y, k) => y - body[k]));
  demand(away(none) < 1e-9 && away(one) > 0 && near(away(two), 2 * away(one), 1e-6), `the ghost is ${[none, one, two].map(away)} m away`);
  return "a ghost that follows its slider";
}

// On a phone the page is whole, and a tap shows numbers.
async function phone(browser, demand) {
  await browser.ask("Emulation.setDeviceMetricsOverride", { width: 390, height: 780, deviceScaleFactor: 1, mobile: true });
  await browser.until("document.getElementById('canvas').clientWidth === 390", "the narrow page");
  const wide = await browser.value("Math.max(...[...document.querySelectorAll('#panel, #top')].map((e) => e.getBoundingClientRect().right))");
  demand(wide <= 390, `on a phone the page is ${wide} pixels wide`);
  return "a phone";
}

// What each check saw; `demand(holds, message)` collects what is wrong.
export async function features(browser, demand) {
  const told = [];
  for (const work of [switches, contacts, plots, gradients, change, files, phone]) told.push(await work(browser, demand));
  return told.filter(Boolean);
}
