// Time: plays, pauses, and begins again at the end.

export class Player {
  constructor(motion, changed) {
    this.motion = motion;
    this.changed = changed; // called with (frame, part) when the picture has to change
    this.playing = false;
    this.speed = 1;
    this.time = motion.begin;
    this.frame = 0;
    this.part = 0;
    this.once = null; // called at the end, in place of another beginning
  }

  play({ once = null } = {}) {
    this.playing = this.motion.count > 1;
    this.last = null;
    this.once = once;
    if (!this.playing) this.finish();
  }

  pause() {
    this.playing = false;
    this.finish();
  }

  finish() {
    const ended = this.once;
    this.once = null;
    ended?.();
  }

  toggle() {
    if (this.playing) this.pause();
    else this.play();
  }

  // Shows a frame; numbers outside are the nearest inside.
  seek(frame) {
    this.frame = Math.min(Math.max(Math.round(frame), 0), this.motion.count - 1);
    this.part = 0;
    this.time = this.motion.times[this.frame];
    this.changed(this.frame, 0);
  }

  // Called for every picture of the screen, with its time in milliseconds.
  tick(now) {
    if (!this.playing) return;
    const passed = this.last === null ? 0 : (now - this.last) / 1000;
    this.last = now;
    // a page that was hidden does not jump
    this.time += this.speed * Math.min(passed, 0.1);
    if (this.time > this.motion.end) {
      if (this.once) return this.seek(this.motion.count - 1), this.pause();
      this.time = this.motion.begin;
    }
    [this.frame, this.part] = this.motion.at(this.time);
    this.changed(this.frame, this.part);
  }
}
