// A session's events, followed without a hole: with the cursor of the last one whenever the connection is made anew.

import { sessionPath } from "./api.js";
import { SseParser } from "./sse_parser.js";

const SILENT_MS = 12_000; // the server gives a sign of life every 5 s
const FIRST_WAIT_MS = 250;
const LONGEST_WAIT_MS = 4_000;

/**
 * `tell(event)` for each event, `connection(state, what, fix)` for "connecting", "live", "lost", "gone" or "over": what
 * became of it in words of its own, or "", and what helps.
 *
 * An EventSource would not do: it tells nothing of heartbeats, so that a dead connection looks like a quiet one, and
 * it cannot be sent back to the snapshot after a gap.
 */
export class Stream {
  #id;
  #tell;
  #connection;
  #cursor = "";
  #stopped = false;
  #wait = FIRST_WAIT_MS;
  #timer = 0;
  #abort = null;
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
    this.#stopped = false;
    this.#connection("connecting", "", "");
    this.#follow();
  }

  /** Leave; `start` goes on from the last event that was seen. */
  stop() {
    this.#stopped = true;
    clearTimeout(this.#timer);
    this.#abort?.abort();
  }

  /** Try again now instead of at the end of the wait. */
  hurry() {
    if (this.#stopped || this.#abort !== null) return;
    clearTimeout(this.#timer);
    this.#follow();
  }

  async #follow() {
    const abort = new AbortController();
    this.#abort = abort;
    let again = true;
    try {
      again = await this.#read(abort);
    } catch {
      // the network, the server's end, or the watchdog: all of them are a lost connection
      if (this.#left) [this.#what, this.#fix] = ["The server stopped", "Start it again."];
    }
    if (this.#abort === abort) this.#abort = null;
    if (again && !this.#stopped) this.#retry();
  }

  async #read(abort) {
    const headers = this.#cursor ? { "Last-Event-ID": this.#cursor } : {};
    const path = sessionPath(this.#id, "/events?kinds=*");
    const watchdog = watch(() => abort.abort());
    try {
      const answer = await fetch(path, { headers, signal: abort.signal, cache: "no-store" });
      [this.#left, this.#what, this.#fix] = [false, "", ""];
      if (answer.status === 204) return this.#over("over");
      if (answer.status === 404) return this.#over("gone", "This session is gone", "The server knows it no more. Open another one.");
      if (answer.status === 401) return this.#over("gone", "This browser is not let in any more", "Open the link that the server printed when it started.");
      if (!answer.ok) return true;
      return await this.#take(answer.body.getReader(), watchdog);
    } finally {
      watchdog.stop();
      abort.abort();
    }
  }

  async #take(reader, watchdog) {
    const parser = new SseParser();
    this.#wait = FIRST_WAIT_MS;
    this.#connection("live", "", "");
    for (;;) {
      const { done, value } = await reader.read();
      watchdog.feed();
      if (done) return (this.#left = true);
      for (const { id, data } of parser.feed(value)) {
        if (this.#stopped) return false;
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
