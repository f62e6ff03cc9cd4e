// This browser as the microphone and the loudspeaker of a session.

import { closeStream, reasonOf } from "./microphone.js";
import { Muting } from "./muting.js";
import { Recording } from "./recording.js";
import { Socket } from "./socket.js";
import { Sound } from "./sound.js";

const HEARD = ["connecting", "live", "lost"]; // in any other state nobody hears the device, and its light is out
/**
 * `changed()` whenever `state`, `why`, `muted`, `open` or `level` is another one.
 *
 * A device takes a while to open. What is open in the end is what `state`, `muted` and the newest choice of a device
 * ask for, in whatever order they came: each of them leads to `#settle`, and a stream that comes late is closed.
 */
export class BrowserAudio {
  state = "off";
  why = "";
  refused = false; // the browser did not open the device that was asked for last
  level = null;
  recording = null;
  #changed;
  #attempt = null; // the newest start
  #device = "";
  #given = null; // a stream that nobody has taken yet
  #making = null; // the promise of a sound
  #sound = null;
  #socket = null;
  #muting = new Muting();
  #records = false;
  #agent = false;

  constructor(id, changed) {
    this.id = id;
    this.#changed = changed;
  }

  /** Open the microphone, or take the `stream` that is open, and connect; from a click, or the browser plays nothing. */
  async start({ device = "", take = false, stream = null } = {}) {
    const attempt = (this.#attempt = {});
    this.#hangUp();
    this.#keep(stream);
    this.#device = device;
    this.#tell("connecting", "");
    try {
      await this.#prepare();
      if (this.#attempt === attempt) await this.#settle();
    } catch (error) {
      if (this.#attempt === attempt) this.#giveUp(error);
      return;
    }
    if (this.#attempt === attempt) this.#connect(take);
  }

  /** Close the microphone, or open it again; told to the server, which then takes silence for no fault. */
  async mute(on) {
    if (on === this.muted) return;
    this.#muting.wish(on);
    await this.#switch();
  }

  /** Another microphone from here on. */
  async use(device) {
    this.#device = device;
    this.#keep(null);
    try {
      await this.#change();
    } catch (error) {
      this.refused = true;
      this.#tell(this.state, reasonOf(error));
    }
  }

  /** Record both voices, or go on without. */
  record(on) {
    this.#records = on;
    if (on && this.#sound) this.recording ??= new Recording(this.#sound.rate);
    this.#sound?.player.record(on);
  }

  /** Leave, and give everything back. */
  close() {
    this.#attempt = null;
    this.#hangUp();
    this.state = "closed";
    this.#shut();
    this.#making?.then((sound) => sound.close(), () => {}); // one that cannot be made is told of where it was asked for
    this.#making = this.#sound = null;
    this.#tell("closed", "");
  }

  /** Nobody is to hear the microphone: it was closed here, or the session was muted by somebody else. */
  get muted() {
    return this.#muting.on;
  }

  /** The device is open, or to be, but for `muted`. */
  get here() {
    return HEARD.includes(this.state);
  }

  get live() {
    return this.state === "live";
  }

  /** The browser holds the sound back, as a phone does during a call. */
  get paused() {
    return this.#sound?.paused === true;
  }

  /** Go on with the sound; from a click. */
  async resume() {
    await this.#sound?.resume();
    this.#moved();
  }

  /** The device itself is open: it was not unplugged. */
  get open() {
    return this.#sound?.microphone.open === true;
  }

  /** The device is asked for, and the browser has not answered yet. */
  get opening() {
    return this.#sound?.microphone.opening === true;
  }

  get #listens() {
    return !this.muted && this.here;
  }

  // -- the device

  /** Raises what getUserMedia raises, where nothing else was asked for since. */
  async #change() {
    this.refused = false;
    this.#tell(this.state, "");
    try {
      await this.#settle();
    } catch (error) {
      if (this.#listens && !this.open && !this.opening) throw error;
    }
    this.#changed();
  }

  /** As `muted` says from now on; a device that does not open is muted. */
  async #switch() {
    try {
      await this.#change();
    } catch (error) {
      this.#muting.wish(true);
      this.#shut();
      this.#tell(this.state, reasonOf(error));
    }
  }

  /** Open the device or close it, as the state says; where there is no sound yet, `start` does so when it is there. */
  async #settle() {
    if (!this.#listens) this.#shut();
    else if (this.#sound !== null) await this.#open();
  }

  #shut() {
    this.#keep(null);
    this.#sound?.microphone.stop();
    this.level = null;
    this.#tellMuted();
  }

  async #open() {
    const given = this.#given;
    this.#given = this.level = null;
    try {
      await this.#sound.microphone.start(this.#device, given);
    } finally {
      if (!this.opening) this.#tellMuted();
    }
  }

  /** Hold this stream until it is wanted, and close the one that was held. */
  #keep(stream) {
    closeStream(this.#given);
    this.#given = stream;
  }

  #lost() {
    this.level = null;
    this.refused = false;
    this.#tellMuted();
    this.#tell(this.state, "The microphone was unplugged. Choose another one.");
  }

  #giveUp(error) {
    this.state = "off";
    this.#shut();
    this.#tell("off", reasonOf(error));
  }

  /** Made once, also where two clicks ask for it. */
  async #prepare() {
    const making = (this.#making ??= this.#made());
    try {
      const sound = await making;
      if (this.#making === making) this.#take(sound);
    } catch (error) {
      if (this.#making === making) this.#making = null;
      throw error;
    }
  }

  #made() {
    return Sound.made({
      changed: () => this.#moved(),
      heard: (frame) => this.#heard(frame),
      onset: (sample) => this.#onset(sample),
      lost: () => this.#lost(),
      told: (played) => this.#played(played),
      recorded: (block) => this.recording?.agent(block.frame, block.samples),
    });
  }

  #take(sound) {
    if (this.#sound === sound) return;
    this.#sound = sound;
    this.recording?.again(); // another clock
    this.record(this.#records);
  }

  // -- the connection

  #connect(take) {
    const hello = { rate: this.#sound.rate, name: "the page in a browser" };
    const socket = new Socket(this.id, hello, {
      state: (state, why) => this.#socket === socket && this.#follow(state, why),
      audio: (frame) => this.#sound.player.play(frame),
      message: (message) => this.#obey(message),
    });
    this.#socket = socket;
    socket.open(take);
  }

  #hangUp() {
    const socket = this.#socket;
    this.#socket = null; // what it still tells is of no matter
    socket?.close();
  }

  #follow(state, why) {
    if (state === "lost" && this.live && this.paused) return this.#rest();
    if (state !== "connecting") this.#silence();
    if (state === "live") this.#sound.microphone.restart();
    this.state = state;
    if (!this.here) this.#shut();
    this.#tell(state, why);
  }

  /** The server let go of a loudspeaker that stood still: until it goes on there is nothing to come back for. */
  #rest() {
    this.#hangUp();
    this.state = "paused";
    this.#shut();
    this.#silence();
    this.#tell("paused", "");
  }

  /** The browser paused the sound, or lets it go on. */
  #moved() {
    if (this.state === "paused" && !this.paused) this.start({ device: this.#device });
    else this.#changed();
  }

  /** Of the session, by somebody else: `how` is "welcome" or "hold". */
  #muted(how, on) {
    const before = this.muted;
    this.#muting[how](on);
    if (this.muted !== before) this.#switch(); // which tells the server what is open then
    else this.#tellMuted();
  }

  /** For the server a device that is closed is muted, whyever. */
  #tellMuted() {
    const on = !this.open;
    if (this.live && this.#muting.isNews(on)) this.#socket?.send({ type: "mute", on });
  }

  /** A new connection begins with nothing of any reply, and an old one ends with it. */
  #silence() {
    this.#sound?.player.reset();
    this.#sound?.microphone.beside(false);
    this.#agent = false;
  }

  #obey(message) {
    if (message.type === "welcome") this.#muted("welcome", message.muted === true);
    if (message.type === "muted") this.#muted("hold", message.on);
    if (["pause", "resume", "gain", "stop"].includes(message.type)) this.#sound.player.obey(message);
  }

  #heard({ sample, frame, at, samples, dbfs }) {
    this.level = dbfs;
    if (this.#records) this.recording?.user(frame, samples);
    if (this.live) this.#socket.sound(sample, at, samples);
    this.#changed();
  }

  #onset(sample) {
    if (this.live) this.#socket.send({ type: "onset", sample: Math.max(0, sample) });
  }

  #played(played) {
    const agent = played.state === "playing";
    if (agent !== this.#agent) this.#sound?.microphone.beside(agent);
    this.#agent = agent;
    this.#socket?.send(played);
  }

  #tell(state, why) {
    this.state = state;
    this.why = why;
    this.#changed();
  }
}
