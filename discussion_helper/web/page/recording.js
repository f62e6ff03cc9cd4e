// Both voices of a talk in this browser, recorded on request.

import { wavOf } from "./wav.js";

const LONGEST_S = 15 * 60; // 170 MB at 48 kHz

/** Blocks by their place in the audio context's time, so that both channels fit each other. */
export class Recording {
  #rate;
  #first = null; // frame of the context that the newest part begins with
  #base = 0; // where that part begins here
  #end = 0;
  #user = [];
  #agent = [];

  constructor(rate) {
    this.#rate = rate;
  }

  get empty() {
    return this.#end === 0;
  }

  /** Another context counts its frames from here on: what it gives comes behind what there is. */
  again() {
    this.#base = this.#end;
    this.#first = null;
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
    const place = this.#base + frame - this.#first;
    if (place < this.#base || place > LONGEST_S * this.#rate) return;
    this.#end = Math.max(this.#end, place + samples.length);
    blocks.push({ frame: place, samples: samples.slice() });
  }
}
