// Pictures and videos of the canvas, as files.

const TYPES = ["video/webm;codecs=vp9", "video/webm;codecs=vp8", "video/webm", "video/mp4"];

export function save(blob, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

export const picture = (canvas) => new Promise((done) => canvas.toBlob(done, "image/png"));

// A video of what the canvas shows until `stop` is called: { stop, done }, `done` promises the file.
export function record(canvas) {
  if (!window.MediaRecorder || !canvas.captureStream) throw new Error("this browser records no video");
  const mimeType = TYPES.find((type) => MediaRecorder.isTypeSupported(type));
  const recorder = new MediaRecorder(canvas.captureStream(60), { mimeType, videoBitsPerSecond: 12e6 });
  const parts = [];
  recorder.addEventListener("dataavailable", ({ data }) => parts.push(data));
  const done = new Promise((resolve) => recorder.addEventListener("stop", () => resolve(new Blob(parts, { type: recorder.mimeType }))));
  recorder.start();
  return { stop: () => recorder.state === "recording" && recorder.stop(), done };
}

export const fileName = (title, ending) => `${title.replace(/[^\p{L}\p{N}_-]+/gu, "-").slice(0, 60) || "replay"}.${ending}`;
