// Microphone and loudspeaker of a talk in this browser, on one clock.

import { Microphone } from "./microphone.js";
import { Player } from "./player.js";

const HIGHEST_RATE = 96_000;
const WORKLETS = ["capture", "player"].map((name) => `/page/${name}-worklet.js`);

/** An audio context with a Microphone and a Player; `changed()` when the browser pauses it, or lets it go on. */
export class Sound {
  #context;

  /** From a click, or the browser plays nothing. Raises what the browser raises. */
  static async made(on) {
    const context = await contextOf();
    try {
      await Promise.all(WORKLETS.map((file) => context.audioWorklet.addModule(file)));
      await context.resume();
      return new Sound(context, on);
    } catch (error) {
      context.close();
      throw error;
    }
  }

  constructor(context, { changed, heard, onset, lost, told, recorded }) {
    this.#context = context;
    this.microphone = new Microphone(context, { heard, onset, lost });
    this.player = new Player(context, { told, recorded });
    context.onstatechange = changed;
  }

  get rate() {
    return this.#context.sampleRate;
  }

  /** The browser holds it back, as a phone does during a call. */
  get paused() {
    return this.#context.state !== "running";
  }

  resume() {
    return this.#context.resume();
  }

  /** Give everything back. Nothing is told any more. */
  close() {
    this.#context.onstatechange = null;
    this.microphone.stop();
    this.player.close();
    this.#context.close();
  }
}

async function contextOf() {
  const context = new AudioContext({ latencyHint: "interactive" });
  if (context.sampleRate <= HIGHEST_RATE) return context;
  await context.close();
  return new AudioContext({ latencyHint: "interactive", sampleRate: 48_000 });
}
