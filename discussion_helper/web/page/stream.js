// A session's events, followed without a hole: with the cursor of the last one whenever the connection is made anew.

import { sessionPath, wayIn } from "./api.js";
import { EventSocket } from "./event_socket.js";
import { SseParser } from "./sse_parser.js";

const SILENT_MS = 12_000; // the server gives a sign of life every 5 s
const FIRST_WAIT_MS = 250;
const LONGEST_WAIT_MS = 4_000;
const OVER = 1000; // what a socket is closed with when all was told
const STOPS = [1001, 1012]; // when the server stops
const GONE = 4404; // when there is no such session

/**
 * `tell(event)` for each event, `connection(state, what, fix)` for "connecting", "live", "lost", "gone" or "over": what
 * became of it in words of its own, or "", and what helps.
 *
 * Over a WebSocket, and where none opens over a streaming fetch. Before it opens the server is asked whether it would
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
    let again = true;
    try {
      again = await this.#read(abort, watchdog);
    } catch (error) {
      // the network, the server's end, or the watchdog: all of them are a lost connection; and an id that is none
      if (error.status === 404 && this.#is(abort)) again = this.#gone();
      else if (this.#left && this.#is(abort)) [this.#what, this.#fix] = ["The server stopped", "Start it again."];
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
      const again = this.#settled(await this.#ask("HEAD", abort), abort) ?? (await this.#hear(abort, watchdog));
      if (again !== null || !this.#is(abort)) return again;
      this.#sockets = false;
    }
    const answer = await this.#ask("GET", abort);
    const parser = new SseParser();
    const eventsIn = (bytes) => parser.feed(bytes);
    return this.#settled(answer, abort) ?? (await this.#take(answer.body.getReader(), eventsIn, abort, watchdog)) ?? (this.#left = true);
  }

  async #ask(method, abort) {
    const headers = this.#cursor ? { "Last-Event-ID": this.#cursor } : {};
    const answer = await fetch(sessionPath(this.#id, "/events?kinds=*"), { method, headers, signal: abort.signal, cache: "no-store" });
    if (!this.#is(abort)) throw new Error("It was left.");
    return answer;
  }

  /** Undefined where it is what was asked for. */
  #settled({ status, ok }, abort) {
    [this.#left, this.#what, this.#fix] = [false, "", ""];
    if (status === 204) return this.#over("over");
    if (status === 404) return this.#gone();
    if (status === 401) return this.#shutOut(abort);
    return ok ? undefined : true;
  }

  /** Null where no WebSocket gets through. */
  async #hear(abort, watchdog) {
    const after = this.#cursor ? `&after=${encodeURIComponent(this.#cursor)}` : "";
    const socket = new EventSocket(sessionPath(this.#id, `/events?kinds=*${after}`));
    abort.signal.addEventListener("abort", () => socket.close());
    const opened = await socket.opens();
    watchdog.feed();
    if (!opened) socket.close();
    if (!opened || !this.#is(abort)) return null;
    return (await this.#take(socket.reader, (one) => (one.data ? [one] : []), abort, watchdog)) ?? this.#closed(socket.code);
  }

  #closed(code) {
    if (code === OVER) return this.#over("over");
    if (code === GONE) return this.#gone();
    this.#left = STOPS.includes(code);
    return true;
  }

  /** Undefined where there is no more. */
  async #take(reader, eventsIn, abort, watchdog) {
    if (!this.#is(abort)) return false;
    this.#wait = FIRST_WAIT_MS;
    this.#connection("live", "", "");
    for (;;) {
      const { done, value } = await reader.read();
      watchdog.feed();
      if (done) return undefined;
      for (const { id = "", data } of eventsIn(value)) {
        if (!this.#is(abort)) return false;
        if (data.kind === "gap") {
          this.#cursor = ""; // something is missing: the state of this moment instead
          this.#wait = 0;
          return true;
        }
        if (id) this.#cursor = id;
        this.#tell(data);
        if (data.kind === "ended") return this.#over("over");
      }
    }
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
    this.#timer = setTimeout(() => this.#follow(), this.#wait);
    this.#wait = Math.min(LONGEST_WAIT_MS, Math.max(FIRST_WAIT_MS, this.#wait * 2));
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
