// A headless Chromium, spoken to over two pipes in its DevTools protocol; node's own modules are enough for it.

import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const PATIENCE = 30_000; // ms that an answer may take: drawing without a graphics card is slow

const FLAGS = [
  "--headless=new", "--no-sandbox", "--remote-debugging-pipe", "--hide-scrollbars", "--mute-audio", "--no-first-run",
  "--disable-dev-shm-usage", "--disable-background-networking", "--disable-component-update", "--disable-extensions",
  "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--force-device-scale-factor=1",
];

export class Browser {
  constructor(program) {
    this.profile = mkdtempSync(join(tmpdir(), "slipstick-browser-"));
    this.child = spawn(program, [...FLAGS, `--user-data-dir=${this.profile}`, "about:blank"], {
      stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"],
    });
    this.waiting = new Map();
    this.listeners = [];
    this.number = 0;
    this.child.on("error", (error) => this.fail(error));
    this.child.on("exit", (code) => this.fail(new Error(`${program} ended with code ${code}`)));
    let text = "";
    this.child.stdio[4].setEncoding("utf8").on("data", (chunk) => {
      const messages = (text + chunk).split("\0");
      text = messages.pop();
      messages.forEach((message) => this.hear(JSON.parse(message)));
    });
    this.child.stdio[3].on("error", (error) => this.fail(error));
  }

  fail(error) {
    for (const { reject } of this.waiting.values()) reject(error);
    this.waiting.clear();
    this.broken = error;
  }

  hear({ id, method, params, result, error }) {
    if (id === undefined) return this.listeners.forEach((listener) => listener(method, params));
    const { resolve, reject, asked } = this.waiting.get(id) ?? {};
    this.waiting.delete(id);
    if (error) reject?.(new Error(`${asked}: ${error.message}`));
    else resolve?.(result);
  }

  ask(method, params = {}, sessionId = this.session) {
    if (this.broken) return Promise.reject(this.broken);
    const id = ++this.number;
    return new Promise((resolve, reject) => {
      const late = setTimeout(() => reject(new Error(`no answer to ${method} in ${PATIENCE} ms`)), PATIENCE);
      const done = (settle) => (value) => {
        clearTimeout(late);
        settle(value);
      };
      this.waiting.set(id, { resolve: done(resolve), reject: done(reject), asked: method });
      this.child.stdio[3].write(JSON.stringify({ id, method, params, sessionId }) + "\0");
    });
  }

  // An empty page of a size, without a network; `heard(method, params)` gets what it reports.
  async page(width, height, heard) {
    const { targetId } = await this.ask("Target.createTarget", { url: "about:blank" });
    this.session = (await this.ask("Target.attachToTarget", { targetId, flatten: true })).sessionId;
    this.listeners.push(heard);
    await Promise.all(["Page", "Runtime", "Log", "Network"].map((domain) => this.ask(`${domain}.enable`)));
    await this.ask("Network.emulateNetworkConditions", { offline: true, latency: 0, downloadThroughput: 0, uploadThroughput: 0 });
    await this.ask("Emulation.setDeviceMetricsOverride", { width, height, deviceScaleFactor: 1, mobile: false });
  }

  // Value of an expression in the page; promises are awaited.
  async value(expression) {
    const asked = { expression, awaitPromise: true, returnByValue: true };
    const { result, exceptionDetails } = await this.ask("Runtime.evaluate", asked);
    if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
    return result.value;
  }

  // Asks again until an expression is true.
  async until(expression, what) {
    const end = Date.now() + PATIENCE;
    while (!(await this.value(expression))) {
      if (Date.now() > end) throw new Error(`waited ${PATIENCE} ms for ${what}`);
      await new Promise((resolve) => setTimeout(resolve, 30));
    }
  }

  // The window as a PNG file (Buffer).
  async picture() {
    const { data } = await this.ask("Page.captureScreenshot", { format: "png" });
    return Buffer.from(data, "base64");
  }

  async close() {
    const ended = new Promise((resolve) => (this.broken ? resolve() : this.child.once("exit", resolve)));
    await this.ask("Browser.close", {}, undefined).catch(() => this.child.kill("SIGKILL"));
    await ended;
    rmSync(this.profile, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  }
}
