// Opens replays in a headless Chromium: checks them, or takes their picture.
//
//   node shoot.mjs check PROGRAM REPLAY.html FOLDER        fails if the page does not load, play or scrub, asks for anything
//                                                          over the network or reports an error; leaves pictures in FOLDER
//   node shoot.mjs picture PROGRAM REPLAY.html OUT.png [VIEW]
//                                                          VIEW is JSON: frame, azimuth, elevation, zoom, width, height, set
//                                                          (switches), bare (false: with title and buttons)
//   node shoot.mjs animate PROGRAM REPLAY.html OUT.png [VIEW]
//                                                          an animated PNG, in half of the size; VIEW also has every (frames), rate
//                                                          (1/s), begin, end, set (switches)
//
// PROGRAM is the browser.

import { mkdirSync, writeFileSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { apng } from "./apng.mjs";
import { Browser } from "./browser.mjs";
import { features } from "./features.mjs";

const SIZE = [1280, 720];

// Opens a replay; `wrong` collects requests that leave the disk, and errors.
async function open(browser, file, [width, height], wrong) {
  await browser.page(width, height, (method, params) => {
    if (method === "Network.requestWillBeSent" && !/^(file|data|blob):/.test(params.request.url)) {
      wrong.push(`asked for ${params.request.url}`);
    } else if (method === "Runtime.exceptionThrown") {
      wrong.push(params.exceptionDetails.exception?.description ?? params.exceptionDetails.text);
    } else if (method === "Runtime.consoleAPICalled" && ["error", "warning", "assert"].includes(params.type)) {
      wrong.push(params.args.map((argument) => argument.value ?? argument.description).join(" "));
    } else if (method === "Log.entryAdded" && params.entry.level === "error") {
      wrong.push(params.entry.text);
    }
  });
  await browser.ask("Page.navigate", { url: pathToFileURL(resolve(file)).href });
  await browser.until("window.slipstick && (slipstick.rendered > 0 || slipstick.errors.length > 0)", "the first picture");
  wrong.push(...(await browser.value("slipstick.errors")));
}

// Shows a frame and waits until it is drawn.
async function show(browser, frame) {
  const before = await browser.value(`slipstick.seek(${frame}), slipstick.rendered`);
  await browser.until(`slipstick.rendered > ${before}`, `frame ${frame}`);
}

const press = (browser, key) => browser.value(`window.dispatchEvent(new KeyboardEvent("keydown", { key: "${key}" }))`);

// The canvas in small, as numbers: pictures of it can be compared without a library.
const PIXELS = `(() => {
  const small = Object.assign(document.createElement("canvas"), { width: 160, height: 90 });
  const pen = small.getContext("2d");
  pen.drawImage(document.getElementById("canvas"), 0, 0, 160, 90);
  return [...pen.getImageData(0, 0, 160, 90).data];
})()`;

// Pixels of the small picture that differ visibly.
function different(a, b) {
  let count = 0;
  for (let i = 0; i < a.length; i += 4) {
    const change = Math.abs(a[i] - b[i]) + Math.abs(a[i + 1] - b[i + 1]) + Math.abs(a[i + 2] - b[i + 2]);
    if (change > 24) count += 1;
  }
  return count;
}

// What every page can do: play, scrub, keys.
async function basics(browser, file, folder, demand) {
  const count = await browser.value("slipstick.count");
  demand(count > 1, `expected several frames, got ${count}`);
  demand(await browser.value("slipstick.playing"), "it does not play by itself");
  await browser.until("slipstick.frame >= 3", "frames that pass");

  const pictures = [];
  for (const share of [0, 0.5, 1]) {
    const frame = Math.round(share * (count - 1));
    await show(browser, frame);
    demand((await browser.value("slipstick.frame")) === frame, `frame ${frame} is not shown after it was asked for`);
    pictures.push(await browser.value(PIXELS));
    writeFileSync(join(folder, `${basename(file, ".html")}-${frame}.png`), await browser.picture());
  }
  const [moved, again] = [different(pictures[0], pictures[1]), different(pictures[1], pictures[2])];
  // what has fallen may lie still in the second half
  demand(moved + again > 20, `scrubbing changes ${moved} and ${again} pixels of 14400, expected more than 20`);

  await show(browser, count - 1);
  const slider = await browser.value("document.getElementById('scrub').value");
  demand(Number(slider) === count - 1, `the slider is at ${slider}, expected ${count - 1}`);
  await browser.value("document.getElementById('scrub').value = 1, document.getElementById('scrub').dispatchEvent(new Event('input'))");
  demand((await browser.value("slipstick.frame")) === 1, "the slider does not move the motion");
  await press(browser, "ArrowRight");
  demand((await browser.value("slipstick.frame")) === 2, "the arrow keys do not move the motion");
  await press(browser, "r");
  await press(browser, " ");
  await browser.until("slipstick.playing && slipstick.frame > 2", "the space bar to play");
  return `${count} frames, ${moved} and ${again} of 14400 pixels change from start to middle to end`;
}

async function check(program, file, folder) {
  const [browser, wrong] = [new Browser(program), []];
  mkdirSync(folder, { recursive: true });
  const demand = (holds, message) => holds || wrong.push(message);
  try {
    await open(browser, file, SIZE, wrong);
    const told = [await basics(browser, file, folder, demand), ...(await features(browser, demand))];
    wrong.push(...(await browser.value("slipstick.errors")));
    console.log(`${file}: ${told.join("; ")}`);
  } catch (error) {
    wrong.push(error.message);
  } finally {
    await browser.close();
  }
  return wrong;
}

// The canvas as RGBA bytes, in half of its size: every pixel is the mean of four.
const SMALL = `(() => {
  const canvas = document.getElementById("canvas");
  const small = Object.assign(document.createElement("canvas"), { width: canvas.width / 2, height: canvas.height / 2 });
  const pen = small.getContext("2d");
  pen.imageSmoothingQuality = "high";
  pen.drawImage(canvas, 0, 0, small.width, small.height);
  const bytes = pen.getImageData(0, 0, small.width, small.height).data;
  let text = "";
  for (let i = 0; i < bytes.length; i += 8192) text += String.fromCharCode(...bytes.subarray(i, i + 8192));
  return btoa(text);
})()`;

async function animate(program, file, out, view) {
  const { width = SIZE[0], height = SIZE[1], every = 2, rate = 30, begin = 0, end = Infinity, set = {}, ...from } = JSON.parse(view ?? "{}");
  const [browser, wrong, frames] = [new Browser(program), [], []];
  try {
    await open(browser, file, [width, height], wrong);
    for (const [id, on] of Object.entries(set)) await browser.value(`slipstick.set("${id}", ${on})`);
    await browser.value(`slipstick.bare(true), slipstick.look(${JSON.stringify(from)})`);
    const last = Math.min(end, (await browser.value("slipstick.count")) - 1);
    for (let frame = begin; frame <= last; frame += every) {
      await show(browser, frame);
      frames.push(Buffer.from(await browser.value(SMALL), "base64"));
    }
    writeFileSync(out, apng(frames, width / 2, height / 2, 1 / rate));
  } catch (error) {
    wrong.push(error.message);
  } finally {
    await browser.close();
  }
  return wrong;
}

async function picture(program, file, out, view) {
  const { frame = 0, width = SIZE[0], height = SIZE[1], set = {}, bare = true, ...from } = JSON.parse(view ?? "{}");
  const [browser, wrong] = [new Browser(program), []];
  try {
    await open(browser, file, [width, height], wrong);
    for (const [id, on] of Object.entries(set)) await browser.value(`slipstick.set("${id}", ${on})`);
    await browser.value(`slipstick.bare(${bare}), slipstick.look(${JSON.stringify(from)})`);
    await show(browser, frame);
    writeFileSync(out, await browser.picture());
  } catch (error) {
    wrong.push(error.message);
  } finally {
    await browser.close();
  }
  return wrong;
}

const [verb, ...words] = process.argv.slice(2);
const work = { check, picture, animate }[verb];
if (!work || words.length < 3) {
  console.error("usage: node shoot.mjs check|picture|animate PROGRAM REPLAY.html OUT [VIEW]");
  process.exit(2);
}
const wrong = await work(...words);
wrong.forEach((message) => console.error(`${words[1]}: ${message}`));
process.exit(wrong.length > 0 ? 1 : 0);
