// Whether nobody is to hear this browser's microphone, and what the server knows of that.

/** It is closed by whoever sits here, or by somebody else who muted the session; the newest word counts. */
export class Muting {
  #wished = false; // it was closed here
  #held = false; // somebody else muted the session
  #lifts = false; // here it was opened again since then, which the server does not know yet
  #told = false; // for the server it is closed

  get on() {
    return this.#wished || this.#held;
  }

  /** Whoever sits here closes it, or opens it again, whoever closed it. */
  wish(on) {
    this.#lifts = !on && (this.#held || this.#lifts);
    this.#wished = on;
    this.#held = false;
  }

  /** A new connection, to a session that somebody else had muted or not. What was done here meanwhile is newer. */
  welcome(held) {
    this.#told = held && !this.#wished;
    this.#held = held && !this.#lifts;
  }

  /** Somebody else mutes the session, or opens its microphone again. */
  hold(on) {
    this.#told = this.#held = on;
  }

  /** Whether the server is to be told that the device is closed, or open: once. */
  isNews(closed) {
    if (closed === this.#told) return false;
    this.#told = closed;
    this.#lifts = false;
    return true;
  }
}
