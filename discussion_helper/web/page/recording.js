// Both voices of a talk in this browser, recorded on request.

import { wavOf } from "./wav.js";

const LONGEST_S = 15 * 60; // 170 MB at 48 kHz

/** Blocks by their place in the audio context's time, so that both channels fit each other. */
export class Recording {
  #rate;
  #first = null;
  #user = [];
  #agent = [];

  constructor(rate) {
    this.#rate = rate;
  }

  get empty() {
    return this.#first === null;
  }

  user(frame, samples) {
    this.#add(this.#user, frame, samples);
  }

  agent(frame, samples) {
    this.#add(this.#agent, frame, samples);
  }

  /** A WAV, the user left and the agent right; null without any sound. */
  wav() {
    return this.empty ? null : wavOf(this.#user, this.#agent, this.#rate);
  }

  #add(blocks, frame, samples) {
    this.#first ??= frame;
    const place = frame - this.#first;
    if (place < 0 || place > LONGEST_S * this.#rate) return;
    blocks.push({ frame: place, samples: samples.slice() });
  }
}
