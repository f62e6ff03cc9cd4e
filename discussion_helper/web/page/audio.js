// This browser as the microphone and the loudspeaker of a session.

import { Microphone, reasonOf } from "./microphone.js";
import { Player } from "./player.js";
import { Recording } from "./recording.js";
import { Socket } from "./socket.js";

const HIGHEST_RATE = 96_000;

/** `changed()` whenever `state`, `why`, `muted` or `level` is another one. */
export class BrowserAudio {
  state = "off";
  why = "";
  muted = false;
  level = null;
  recording = null;
  #changed;
  #context = null;
  #microphone = null;
  #player = null;
  #socket = null;
  #records = false;
  #agent = false;

  constructor(id, changed) {
    this.id = id;
    this.#changed = changed;
  }

  /** Open the microphone, or take the `stream` that is open, and connect; from a click, or the browser plays nothing. */
  async start({ device = "", take = false, stream = null } = {}) {
    this.#tell("connecting", "");
    try {
      await this.#prepare();
      if (!this.muted) await this.#microphone.start(device, stream);
    } catch (error) {
      for (const track of stream?.getTracks() ?? []) track.stop();
      return this.#tell("off", reasonOf(error));
    }
    if (this.state === "closed") return this.#release();
    this.#connect(take);
  }

  /** Take the microphone from another tab or program. */
  take() {
    this.#socket?.open(true);
  }

  /** Close the microphone, or open it again; told to the server, which then takes silence for no fault. */
  async mute(on) {
    this.muted = on;
    this.why = "";
    if (on) this.#microphone?.stop();
    this.level = null;
    try {
      if (!on) await this.#microphone?.start();
    } catch (error) {
      this.muted = true;
      this.why = reasonOf(error);
    }
    this.#socket?.send({ type: "mute", on: this.muted });
    this.#changed();
  }

  /** Another microphone from here on. */
  async use(device) {
    if (this.#microphone === null || this.muted) return;
    try {
      await this.#microphone.start(device);
      this.#tell(this.state, "");
    } catch (error) {
      this.#tell(this.state, reasonOf(error));
    }
  }

  /** Record both voices, or go on without. */
  record(on) {
    this.#records = on;
    if (on && this.#context) this.recording ??= new Recording(this.#context.sampleRate);
    this.#player?.record(on);
  }

  /** Leave, and give everything back. */
  close() {
    this.#socket?.close();
    this.#release();
    this.#tell("closed", "");
  }

  get live() {
    return this.state === "live";
  }

  /** The browser holds the sound back, as a phone does during a call. */
  get paused() {
    return this.#context !== null && this.#context.state !== "running";
  }

  /** Go on with the sound; from a click. */
  async resume() {
    await this.#context?.resume();
    this.#changed();
  }

  /** The device itself is open: it was not unplugged. */
  get open() {
    return this.#microphone?.open === true;
  }

  async #prepare() {
    if (this.#context !== null) return;
    let context = new AudioContext({ latencyHint: "interactive" });
    if (context.sampleRate > HIGHEST_RATE) {
      await context.close();
      context = new AudioContext({ latencyHint: "interactive", sampleRate: 48_000 });
    }
    this.#context = context;
    context.onstatechange = () => this.#changed();
    await Promise.all(["capture", "player"].map((name) => context.audioWorklet.addModule(`/page/${name}-worklet.js`)));
    await context.resume();
    const lost = () => this.#tell(this.state, "The microphone was unplugged. Choose another one.");
    this.#microphone = new Microphone(context, { heard: (frame) => this.#heard(frame), onset: (sample) => this.#onset(sample), lost });
    this.#player = new Player(context, { told: (played) => this.#played(played), recorded: (block) => this.recording?.agent(block.frame, block.samples) });
    this.record(this.#records);
  }

  #connect(take) {
    const hello = { rate: this.#context.sampleRate, name: "the page in a browser" };
    this.#socket ??= new Socket(this.id, hello, {
      state: (state, why) => this.#follow(state, why),
      audio: (frame) => this.#player.play(frame),
      message: (message) => this.#obey(message),
    });
    this.#socket.open(take);
  }

  #follow(state, why) {
    if (state !== "connecting") this.#silence();
    if (state === "live") {
      this.#microphone.restart();
      if (this.muted) this.#socket.send({ type: "mute", on: true });
    }
    if (["taken", "refused", "over"].includes(state)) this.#microphone?.stop();
    if (this.state !== "closed") this.#tell(state, why);
  }

  /** A new connection begins with nothing of any reply, and an old one ends with it. */
  #silence() {
    this.#player?.reset();
    this.#microphone?.beside(false);
    this.#agent = false;
  }

  #obey(message) {
    if (["pause", "resume", "gain", "stop"].includes(message.type)) this.#player.obey(message);
  }

  #heard({ sample, frame, at, samples, dbfs }) {
    this.level = dbfs;
    if (this.#records) this.recording?.user(frame, samples);
    if (this.live && !this.muted) this.#socket.sound(sample, at, samples);
    this.#changed();
  }

  #played(played) {
    const agent = played.state === "playing";
    if (agent !== this.#agent) this.#microphone?.beside(agent);
    this.#agent = agent;
    this.#socket?.send(played);
  }

  #onset(sample) {
    if (this.live && !this.muted) this.#socket.send({ type: "onset", sample: Math.max(0, sample) });
  }

  #release() {
    this.#microphone?.stop();
    this.#context?.close();
    this.#context = this.#microphone = this.#player = this.#socket = null;
    this.level = null;
  }

  #tell(state, why) {
    this.state = state;
    this.why = why;
    this.#changed();
  }
}
