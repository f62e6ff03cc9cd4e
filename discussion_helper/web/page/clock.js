// How long a session has gone on, as far as this page knows, or for how long it knows nothing of it.

import { clockTime } from "./element.js";

const GOES_ON = ["connecting", "live"];

/** It never runs backwards: an event that comes late tells an earlier time, and the session began no later for that. */
export class Clock {
  #id = null;
  #began = Infinity; // in milliseconds of `now`
  #lost = null;

  /** What to show at `now`, milliseconds. */
  text(session, { state }, now) {
    if (session?.id !== this.#id) this.#began = Infinity;
    this.#id = session?.id;
    this.#lost = state === "lost" ? (this.#lost ?? now) : null;
    if (session === null || state === "gone") return "";
    this.#began = Math.min(this.#began, now - session.elapsed_s * 1000);
    if (state === "lost") return `lost for ${clockTime((now - this.#lost) / 1000)}`;
    const goesOn = session.running && GOES_ON.includes(state);
    return clockTime(goesOn ? (now - this.#began) / 1000 : session.elapsed_s);
  }
}
