// The key of push to talk: let go of in the session where it was pressed, once, whatever held it.

import { ask, sessionPath } from "./api.js";

const WAITS_MS = [0, 250, 1_000, 3_000]; // before each try: what is not let go of keeps the floor for a minute
const NO_KEY = [404, 409]; // the session is over, and its key with it
const PASSING = [0, 408, 429]; // as is whatever the server could not do

/** One press at a time, however many fingers and keys hold it. `fail(error, id)` is told of what the server refused. */
export class TalkKey {
  #holders = new Set();
  #press = null; // the one that is held
  #open = new Set(); // those that are not let go of yet, for all that the server said
  #line = Promise.resolve();
  #fail;

  constructor(fail) {
    this.#fail = fail;
  }

  /** `holder`, the name of a key or of a pointer, goes down in the session `id`. */
  down(holder, id) {
    this.#holders.add(holder);
    if (this.#press !== null) return;
    const press = { id, begun: false, over: false };
    this.#press = press;
    this.#open.add(press);
    this.#then(() => this.#begin(press));
  }

  /** It comes up; the last one lets go. */
  up(holder) {
    if (this.#holders.delete(holder) && this.#holders.size === 0) this.letGo();
  }

  /** Nobody holds it any more, whoever has a finger on it. `over`: the session is, and asks for no release. */
  letGo({ over = false } = {}) {
    const press = this.#press;
    this.#holders.clear();
    this.#press = null;
    if (press === null) return;
    if (over) this.#forget(press);
    else this.#then(() => this.#end(press));
  }

  /** The page goes: what is not let go of is let go of at once, in requests that outlive it. */
  leave() {
    this.letGo();
    for (const press of [...this.#open]) {
      if (press.begun && !press.over) this.#release(press);
      this.#forget(press);
    }
  }

  /** One after the other, so that a release never overtakes its press. */
  #then(doing) {
    this.#line = this.#line.then(doing);
  }

  #forget(press) {
    press.over = true;
    this.#open.delete(press);
  }

  async #begin(press) {
    if (press.over) return;
    press.begun = true;
    try {
      await post(press.id, "/press");
    } catch (error) {
      if (!isPassing(error)) this.#forget(press); // it was refused: nothing is pressed
      this.#fail(error, press.id);
    }
  }

  async #end(press) {
    for (const wait of WAITS_MS) {
      if (wait) await new Promise((done) => setTimeout(done, wait));
      if (!press.over) await this.#release(press);
      if (press.over) break;
    }
    this.#forget(press);
  }

  /** Over, unless it may be that the server knows nothing of it. */
  async #release(press) {
    press.over = true;
    try {
      await post(press.id, "/release");
    } catch (error) {
      press.over = !isPassing(error);
      if (!NO_KEY.includes(error.status)) this.#fail(error, press.id);
    }
  }
}

/** With `keepalive`, and not as a beacon: a page without a referrer sends beacons without its origin. */
function post(id, rest) {
  return ask("POST", sessionPath(id, rest), undefined, { keepalive: true });
}

function isPassing({ status }) {
  return PASSING.includes(status) || status >= 500;
}
