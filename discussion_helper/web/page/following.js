// The session that this page follows: its state, the connection, and this browser's microphone where it has one.

import { ask, isId, sessionPath } from "./api.js";
import { BrowserAudio } from "./audio.js";
import { closeStream } from "./microphone.js";
import { blank, fold } from "./state.js";
import { Stream } from "./stream.js";
import { TalkKey } from "./talk_key.js";

const LOOKS_MS = 2_000; // after a session was ended: with the whole server?
const NOBODY = { state: "gone", what: "There is no session of that id", fix: "Choose one of the list, or open another one." };
const UNSEEN_MS = 20_000; // a browser has six connections to a server, for all tabs together

/** `changed()` after everything that may be seen, `fail(error)` for what went wrong. */
export class Following {
  id = "";
  state = blank();
  connection = { state: "none", what: "", fix: "" };
  audio = null;
  #stream = null;
  #changed;
  #key;
  #awaited = null;
  #unseen = 0;
  #asleep = false;
  #muting = null; // what this machine's microphone was last asked for, until that is done

  constructor(changed, fail) {
    this.#changed = changed;
    this.#key = new TalkKey(fail);
  }

  /** Follow this one from now on; "" = none. */
  follow(id) {
    const awaited = this.#awaited?.id === id ? this.#awaited : null;
    if (awaited) this.#awaited = null;
    this.leave();
    this.id = id;
    this.state = blank();
    this.connection = id && !isId(id) ? NOBODY : { state: "none", what: "", fix: "" };
    if (isId(id)) {
      this.#stream = new Stream(id, (event) => this.#take(event), (...told) => this.#connected(...told));
      this.#stream.start();
    }
    if (awaited) this.join(awaited.options).then(awaited.joined);
    this.#changed();
  }

  /** The session of this id was opened to be talked to in this browser, and is about to be followed. */
  expect(id, options, joined) {
    closeStream(this.#awaited?.options.stream);
    this.#awaited = null;
    if (id === this.id) this.join(options).then(joined); // it was found in the list meanwhile
    else this.#awaited = { id, options, joined };
  }

  /** Be its microphone and its loudspeaker. */
  async join({ device, take = false, record = false, stream = null }) {
    if (this.audio?.live) {
      closeStream(stream);
      return this.audio.use(device); // it was unplugged
    }
    this.audio ??= new BrowserAudio(this.id, () => this.#tell());
    this.audio.record(record);
    await this.audio.start({ device, take, stream });
  }

  /** Leave it; the session goes on. */
  leave() {
    this.letGo();
    clearTimeout(this.#unseen);
    this.#asleep = false;
    this.#stream?.stop();
    this.audio?.close();
    closeStream(this.#awaited?.options.stream);
    this.#stream = this.audio = this.#awaited = this.#muting = null;
    this.id = "";
  }

  /** The page goes. */
  goes() {
    this.#key.leave();
    this.leave();
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

  /** There is a microphone to close, or to open again: this browser's also while there is no connection. */
  get canMute() {
    return this.audio !== null ? this.audio.here : this.hasMicrophone;
  }

  /** The other way round than it is, or was asked for. */
  async mute() {
    if (this.audio !== null) return this.audio.mute(!this.audio.muted);
    const muted = this.#muting?.on ?? this.state.session.microphone === "muted";
    const before = this.#muting?.done ?? Promise.resolve();
    const path = sessionPath(this.id, "/mute");
    const muting = (this.#muting = { on: !muted, done: null });
    muting.done = before.catch(() => {}).then(() => ask("POST", path, { on: !muted }));
    try {
      await muting.done;
    } finally {
      if (this.#muting === muting) this.#muting = null;
    }
  }

  /** `holder`, a key or a pointer, goes down: the user has the floor. */
  press(holder) {
    if (this.hasKey) this.#key.down(holder, this.id);
  }

  release(holder) {
    this.#key.up(holder);
  }

  /** Whatever holds the key is taken to be up: nobody would see it come up. */
  letGo() {
    this.#key.letGo({ over: !this.runs });
  }

  #take(event) {
    this.state = fold(this.state, event);
    if (event.kind === "ended") this.audio?.close();
    this.#tell();
  }

  #connected(state, what, fix) {
    this.connection = { state, what, fix };
    if (state === "live") this.seen(!document.hidden);
    if (state === "gone" || state === "over") this.audio?.close();
    const { id } = this;
    if (state === "over") setTimeout(() => this.#look(id), LOOKS_MS);
    this.#tell();
  }

  /** Where the key is not there any more, nobody can let go of it. */
  #tell() {
    if (!this.hasKey) this.letGo();
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
