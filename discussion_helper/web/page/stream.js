// A session's events, followed without a hole: with the cursor of the last one whenever the connection is made anew.

import { sessionPath, wayIn } from "./api.js";
import { EventSocket } from "./event_socket.js";
import { SseParser } from "./sse_parser.js";

const SILENT_MS = 12_000; // the server gives a sign of life every 5 s
const FIRST_WAIT_MS = 250;
const LONGEST_WAIT_MS = 4_000;
const LONGEST_REFUSED_MS = 16_000; // a limit that is reached is not reached less for being asked
const LONGEST_ASKED_MS = 60_000; // whatever the server asks to be left alone for
const AGAIN_MS = 60_000; // so long after no WebSocket got through another one is tried
const OVER = 1000; // what a socket is closed with when all was told
const STOPS = [1001, 1012]; // when the server stops
const GONE = 4404; // when there is no such session
const BY_ITSELF = "This page tries again by itself.";

/**
 * `tell(event)` for each event, `connection(state, what, fix)` for "connecting", "live", "lost", "gone" or "over": what
 * became of it in words of its own, or "", and what helps.
 *
 * It is "live" when the state is there, and what is told from then on. Over a WebSocket, and where none opens over a
 * streaming fetch, beside which a WebSocket is tried again each minute. Before it opens the server is asked whether it would
 * tell: why a WebSocket was refused no page is told. An EventSource would not do in the fetch's place: it tells nothing
 * of heartbeats, so that a dead connection looks like a quiet one, and cannot be sent back to the snapshot after a gap.
 */
export class Stream {
  #id;
  #tell;
  #connection;
  #cursor = "";
  #stopped = false;
  #wait = FIRST_WAIT_MS;
  #timer = 0;
  #abort = null; // of the connection that is there, or is made
  #sockets = true; // they get through, as far as is known
  #probing = 0;
  #isLive = false;
  #refused = false; // by the server, which is there
  #asked = 0; // milliseconds that it wants to be left alone
  #left = false; // the server closed the stream itself, and did not answer since then
  #what = "";
  #fix = "";

  constructor(id, tell, connection) {
    this.#id = id;
    this.#tell = tell;
    this.#connection = connection;
  }

  /** Follow until `stop`, the session's end, or until there is no such session any more. */
  start() {
    this.stop();
    this.#stopped = false;
    this.#sockets = true;
    this.#connection("connecting", "", "");
    this.#follow();
  }

  /** Leave; `start` goes on from the last event that was seen. */
  stop() {
    this.#stopped = true;
    clearTimeout(this.#timer);
    clearTimeout(this.#probing);
    this.#abort?.abort();
    this.#abort = null;
  }

  /** Try again now instead of at the end of the wait. */
  hurry() {
    if (this.#stopped || this.#abort !== null) return;
    clearTimeout(this.#timer);
    this.#follow();
  }

  async #follow() {
    const abort = new AbortController();
    const watchdog = watch(() => abort.abort());
    this.#abort = abort;
    this.#isLive = false;
    let again = true;
    try {
      again = await this.#read(abort, watchdog);
    } catch (error) {
      // the network, the server's end, or the watchdog: all of them are a lost connection; and an id that is none
      if (error.status === 404 && this.#is(abort)) again = this.#gone();
      else if (this.#left && this.#is(abort)) [this.#what, this.#fix] = ["The server stopped", "Start it again."];
      else if (this.#is(abort)) [this.#refused, this.#what, this.#fix] = [false, "", ""];
    } finally {
      watchdog.stop();
      abort.abort();
    }
    if (!this.#is(abort)) return; // it was left meanwhile, and there may be another one
    this.#abort = null;
    if (again && !this.#stopped) this.#retry();
  }

  #is(abort) {
    return this.#abort === abort;
  }

  /** Whether to come back, here and below. */
  async #read(abort, watchdog) {
    if (this.#sockets) {
      const again = (await this.#settled(await this.#ask("HEAD", abort), abort)) ?? (await this.#hear(abort, watchdog));
      if (again !== null || !this.#is(abort)) return again;
    }
    const answer = await this.#ask("GET", abort);
    const settled = await this.#settled(answer, abort);
    if (settled !== undefined) return settled;
    if (this.#sockets) this.#doWithout();
    const parser = new SseParser();
    const eventsIn = (bytes) => {
      const events = parser.feed(bytes);
      return events.length || parser.isWhole ? events : null;
    };
    return (await this.#take(answer.body.getReader(), eventsIn, abort, watchdog)) ?? (this.#left = true);
  }

  #doWithout() {
    this.#sockets = false;
    clearTimeout(this.#probing);
    this.#probing = setTimeout(() => this.#probe(), AGAIN_MS);
  }

  /** Whether a WebSocket gets through now; what is followed goes on until one does. */
  async #probe() {
    const abort = this.#abort;
    if (abort === null) {
      this.#sockets = true; // the next connection will show it
      return;
    }
    const socket = this.#socket();
    const opened = await socket.opens();
    socket.close();
    if (this.#stopped || this.#sockets) return;
    if (!opened || !this.#is(abort)) {
      this.#doWithout();
      return;
    }
    [this.#sockets, this.#wait] = [true, 0];
    abort.abort();
  }

  async #ask(method, abort) {
    const headers = this.#cursor ? { "Last-Event-ID": this.#cursor } : {};
    const answer = await fetch(sessionPath(this.#id, "/events?kinds=*"), { method, headers, signal: abort.signal, cache: "no-store" });
    if (!this.#is(abort)) throw new Error("It was left.");
    return answer;
  }

  /** Undefined where it is what was asked for. */
  async #settled(answer, abort) {
    const { status, ok } = answer;
    [this.#left, this.#refused, this.#what, this.#fix] = [false, false, "", ""];
    if (status === 204) return this.#over("over");
    if (status === 404) return this.#gone();
    if (status === 401) return this.#shutOut(abort);
    if (ok) return undefined;
    const told = await answer.json().catch(() => null);
    this.#refuse(told?.error ?? `The server answered ${status}.`, told?.fix);
    this.#asked = Math.min(LONGEST_ASKED_MS, 1000 * (Number(answer.headers.get("Retry-After")) || 0));
    return true;
  }

  #refuse(what, fix = "") {
    this.#refused = true;
    [this.#what, this.#fix] = [what.replace(/\.$/, ""), [fix, BY_ITSELF].filter(Boolean).join(" ")];
  }

  /** Null where no WebSocket gets through. */
  async #hear(abort, watchdog) {
    const socket = this.#socket();
    abort.signal.addEventListener("abort", () => socket.close());
    const opened = await socket.opens();
    watchdog.feed();
    if (!opened) socket.close();
    if (!opened || !this.#is(abort)) return null;
    const eventsIn = (one) => one && (one.data ? [one] : []);
    return (await this.#take(socket.reader, eventsIn, abort, watchdog)) ?? this.#closed(socket);
  }

  #socket() {
    const after = this.#cursor ? `&after=${encodeURIComponent(this.#cursor)}` : "";
    return new EventSocket(sessionPath(this.#id, `/events?kinds=*${after}`));
  }

  #closed({ code, reason }) {
    if (code === OVER) return this.#over("over");
    if (code === GONE) return this.#gone();
    this.#left = STOPS.includes(code);
    if (code >= 4400 && code < 4600) this.#refuse(reason || `The server closed with ${code}.`);
    return true;
  }

  /** Undefined where there is no more. `eventsIn(value)`: null while something is there of which more is to come. */
  async #take(reader, eventsIn, abort, watchdog) {
    for (;;) {
      const { done, value } = await reader.read();
      watchdog.feed();
      if (done) return undefined;
      if (!this.#is(abort)) return false;
      const events = eventsIn(value);
      for (const { id = "", data } of events ?? []) {
        if (!this.#is(abort)) return false;
        if (data.kind === "gap") {
          this.#cursor = ""; // something is missing: the state of this moment instead
          this.#wait = 0;
          return true;
        }
        if (id) this.#cursor = id;
        this.#tell(data);
        this.#begin();
        if (data.kind === "ended") return this.#over("over");
      }
      if (events !== null && this.#cursor) this.#begin(); // nothing was missed
    }
  }

  #begin() {
    if (this.#isLive) return;
    this.#isLive = true;
    this.#wait = FIRST_WAIT_MS;
    this.#connection("live", "", "");
  }

  async #shutOut(abort) {
    const fix = await wayIn();
    return this.#is(abort) && this.#over("gone", "This browser is not let in any more", fix);
  }

  #gone() {
    return this.#over("gone", "This session is gone", "The server knows it no more. Open another one.");
  }

  #over(state, what = "", fix = "") {
    if (!this.#stopped) this.#connection(state, what, fix);
    this.#stopped = true;
    return false;
  }

  #retry() {
    if (this.#wait > 0) this.#connection("lost", this.#what, this.#fix);
    this.#timer = setTimeout(() => this.#follow(), Math.max(this.#wait, this.#asked));
    this.#asked = 0;
    this.#wait = Math.min(this.#refused ? LONGEST_REFUSED_MS : LONGEST_WAIT_MS, Math.max(FIRST_WAIT_MS, this.#wait * 2));
  }
}

/** Barks when it is not fed for long. */
function watch(bark) {
  let timer = setTimeout(bark, SILENT_MS);
  return {
    feed() {
      clearTimeout(timer);
      timer = setTimeout(bark, SILENT_MS);
    },
    stop: () => clearTimeout(timer),
  };
}
