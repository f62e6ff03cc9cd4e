// The session that this page follows: its state, the connection, and this browser's microphone where it has one.

import { ask, sessionPath } from "./api.js";
import { BrowserAudio } from "./audio.js";
import { blank, fold } from "./state.js";
import { Stream } from "./stream.js";

const LOOKS_MS = 2_000; // after a session was ended: with the whole server?
const UNSEEN_MS = 20_000; // a browser has six connections to a server, for all tabs together

/** `changed()` after everything that may be seen, `fail(error)` for what went wrong. */
export class Following {
  id = "";
  state = blank();
  connection = { state: "none", what: "", fix: "" };
  audio = null;
  #stream = null;
  #changed;
  #fail;
  #awaited = null;
  #unseen = 0;
  #asleep = false;
  #pressing = Promise.resolve();

  constructor(changed, fail) {
    this.#changed = changed;
    this.#fail = fail;
  }

  /** Follow this one from now on; "" = none. */
  follow(id) {
    this.leave();
    this.id = id;
    this.state = blank();
    this.connection = { state: "none", what: "", fix: "" };
    if (id) {
      this.#stream = new Stream(id, (event) => this.#take(event), (...told) => this.#connected(...told));
      this.#stream.start();
    }
    if (this.#awaited?.id === id) this.join(this.#awaited.options).then(this.#awaited.joined);
    this.#awaited = null;
    this.#changed();
  }

  /** The session of this id was opened to be talked to in this browser. */
  expect(id, options, joined) {
    this.#awaited = { id, options, joined };
  }

  /** Be its microphone and its loudspeaker. */
  async join({ device, take = false, record = false, stream = null }) {
    if (this.audio?.live) return this.audio.use(device); // it was unplugged
    if (take && this.audio && ["owned", "taken"].includes(this.audio.state)) {
      if (this.audio.state === "owned") return this.audio.take();
      this.audio.close();
      this.audio = null;
    }
    this.audio ??= new BrowserAudio(this.id, this.#changed);
    this.audio.record(record);
    await this.audio.start({ device, take, stream });
  }

  /** Leave it; the session goes on. */
  leave() {
    this.#stream?.stop();
    this.audio?.close();
    this.#stream = this.audio = null;
    this.id = "";
  }

  /** Whether anybody looks at this tab: of one that nobody sees the stream is closed, and resumed later.
   *
   * Who comes back to a session that was gone may have opened the server's link in another tab meanwhile.
   */
  seen(on) {
    clearTimeout(this.#unseen);
    if (on && (this.#asleep || this.connection.state === "gone")) {
      this.#asleep = false;
      this.#stream?.start();
    } else if (!on && this.audio === null && this.connection.state === "live") {
      this.#unseen = setTimeout(() => {
        this.#asleep = true;
        this.#stream?.stop();
      }, UNSEEN_MS);
    }
  }

  /** The network is back. */
  hurry() {
    this.#stream?.hurry();
  }

  get runs() {
    return this.state.session?.running === true && this.connection.state !== "gone";
  }

  get #voice() {
    return this.runs && this.state.session.kind === "voice";
  }

  /** A key is to be held to talk. */
  get hasKey() {
    return this.#voice && this.state.session.turn_policy === "push_to_talk" && this.hasMicrophone;
  }

  /** A loudspeaker of this session is to be heard where the page is. */
  get sounds() {
    return this.#voice && this.hasMicrophone;
  }

  /** This browser can be the microphone of the session. */
  get offersAudio() {
    return this.#voice && this.state.session.transport === "remote";
  }

  get hasMicrophone() {
    return this.#voice && (this.audio !== null ? this.audio.live : this.state.session.transport === "local");
  }

  async mute() {
    if (this.audio !== null) return this.audio.mute(!this.audio.muted);
    await ask("POST", sessionPath(this.id, "/mute"), { on: this.state.session.microphone !== "muted" });
  }

  press() {
    this.#key("/press");
  }

  release() {
    this.#key("/release");
  }

  /** One after the other, so that a release never overtakes its press. */
  #key(rest) {
    const { id } = this;
    this.#pressing = this.#pressing.then(() => ask("POST", sessionPath(id, rest))).catch(this.#fail);
  }

  #take(event) {
    this.state = fold(this.state, event);
    if (event.kind === "ended") this.audio?.close();
    this.#changed();
  }

  #connected(state, what, fix) {
    this.connection = { state, what, fix };
    if (state === "live") this.seen(!document.hidden);
    if (state === "gone" || state === "over") this.audio?.close();
    if (state === "over") setTimeout(() => this.#look(this.id), LOOKS_MS);
    this.#changed();
  }

  /** A server that stops ends its sessions first: whether this one ended with it is to be seen afterwards. */
  async #look(id) {
    if (id !== this.id || this.connection.state !== "over") return;
    const stopped = await ask("GET", "/sessions").then(() => false, (error) => error.status === 0);
    if (!stopped || id !== this.id) return;
    this.connection = { state: "over", what: "The server stopped", fix: "Start it again." };
    this.#changed();
  }
}
