// The socket that carries both voices, made anew while the server still keeps the place.

import { ask, sessionPath } from "./api.js";
import { decoded, encoded } from "./frames.js";

const PROTOCOL = "discussion-helper.audio.v1";
const KEPT_MS = 30_000; // so long the server keeps the place
const FIRST_WAIT_MS = 250;
const LONGEST_WAIT_MS = 4_000;
const FIRST_PING_MS = 10_000; // until a socket is open, and until the first ping: a hello may take its time
const SILENT_MS = 5_000; // the server pings every 2 s
const FULL_BYTES = 256 * 1024; // about 3 s of sound: what comes later than that is better lost
const CLOSES = { 4001: "taken", 4409: "owned" };

/**
 * `on.state(state, why)` for "connecting", "live", "lost", "owned", "taken", "refused", "off" and "over";
 * `on.audio(frame)` and `on.message(object)` for what comes.
 */
export class Socket {
  #id;
  #hello;
  #on;
  #socket = null;
  #seq = 0;
  #wait = FIRST_WAIT_MS;
  #lostAt = 0;
  #timer = 0;
  #watchdog = 0;
  #patience = FIRST_PING_MS;
  #why = "";
  #left = false;
  #opened = false;

  constructor(id, hello, on) {
    this.#id = id;
    this.#hello = hello;
    this.#on = on;
  }

  /** Connect; with `take` the microphone is taken from whoever has it. */
  open(take = false) {
    this.#left = false;
    this.#why = "";
    clearTimeout(this.#timer);
    const scheme = location.protocol === "https:" ? "wss:" : "ws:";
    const socket = new WebSocket(`${scheme}//${location.host}${sessionPath(this.#id, "/audio")}`, PROTOCOL);
    socket.binaryType = "arraybuffer";
    this.#socket = socket;
    this.#patience = FIRST_PING_MS;
    this.#watch();
    this.#on.state(this.#lostAt ? "lost" : "connecting", "");
    socket.onopen = () => {
      this.#opened = true;
      this.send({ type: "hello", take, ...this.#hello });
    };
    socket.onmessage = ({ data }) => this.#socket === socket && this.#take(data);
    socket.onclose = ({ code }) => this.#socket === socket && this.#closed(code);
  }

  /** A message; lost where there is no connection. */
  send(message) {
    if (this.#socket?.readyState === WebSocket.OPEN) this.#socket.send(JSON.stringify(message));
  }

  /** Sound of the microphone; whether it went out. */
  sound(sample, at, samples) {
    if (this.#socket?.readyState !== WebSocket.OPEN || this.#socket.bufferedAmount > FULL_BYTES) return false;
    this.#socket.send(encoded({ seq: this.#seq, sample, at, samples }));
    this.#seq += 1;
    return true;
  }

  /** Leave for good. */
  close() {
    this.#left = true;
    clearTimeout(this.#timer);
    clearTimeout(this.#watchdog);
    this.send({ type: "bye" });
    const socket = this.#socket;
    this.#socket = null;
    if (socket?.readyState === WebSocket.CONNECTING) socket.onopen = () => socket.close(1000); // sooner it would be a fault
    else socket?.close(1000);
    this.#on.state("off", "");
  }

  /** Of a connection that died without a word a socket knows nothing, for minutes. */
  #watch() {
    clearTimeout(this.#watchdog);
    const watched = this.#socket;
    this.#watchdog = setTimeout(() => {
      if (this.#socket !== watched || watched === null) return;
      this.#opened = true; // it was no refusal
      this.#closed(0);
      watched.close();
    }, this.#patience);
  }

  #take(data) {
    this.#watch();
    if (data instanceof ArrayBuffer) {
      const frame = decoded(data);
      if (frame !== null) this.#on.audio(frame);
      return;
    }
    const message = JSON.parse(data);
    if (message.type === "welcome") this.#welcomed();
    if (message.type === "ping") this.#pinged(message.n);
    if (message.type === "taken") this.#why = "taken";
    if (message.type === "ended") this.#why = "over";
    if (message.type === "error" && message.code === "owned") this.#why = "owned";
    this.#on.message(message);
  }

  #pinged(n) {
    this.#patience = SILENT_MS;
    this.#watch();
    this.send({ type: "pong", n });
  }

  #welcomed() {
    this.#seq = 0;
    this.#lostAt = 0;
    this.#wait = FIRST_WAIT_MS;
    this.#on.state("live", "");
  }

  #closed(code) {
    this.#socket = null;
    clearTimeout(this.#watchdog);
    const why = this.#why || CLOSES[code];
    if (this.#left) return;
    if (why) {
      this.#lostAt = 0;
      return this.#on.state(why, "");
    }
    if (!this.#opened) return this.#refused();
    this.#lostAt ||= Date.now();
    if (Date.now() - this.#lostAt > KEPT_MS) {
      this.#lostAt = 0;
      return this.#on.state("off", "The connection did not come back within 30 s.");
    }
    this.#on.state("lost", "");
    if (this.#left) return; // for that reason
    this.#timer = setTimeout(() => this.open(), this.#wait);
    this.#wait = Math.min(LONGEST_WAIT_MS, this.#wait * 2);
  }

  /** Of a handshake that was refused a page is not told why: what it can find out is whether there is such a session. */
  async #refused() {
    this.#on.state("refused", ""); // the device is closed at once, however long the answer takes
    const why = await ask("GET", sessionPath(this.#id)).then(whyNot, (error) => error.message);
    if (!this.#left && this.#socket === null) this.#on.state("refused", why);
  }
}

function whyNot({ running }) {
  if (!running) return "The session is over.";
  return "The server did not take the microphone: something that it needs is missing, see /health, or too many wait for it.";
}
