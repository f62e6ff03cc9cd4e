// The box in which a message is written.

import { byId } from "./element.js";

const DRAFTS = 50;

/** `send(id, text)` gives a promise; a message that did not go out stays in the box, and `fail(error)` tells why. */
export class Composer {
  #box = byId("text");
  #send;
  #fail;
  #id = "";
  #drafts = new Map(); // of the other sessions, the oldest first
  #sending = new Set(); // the sessions

  constructor({ send, fail }) {
    this.#send = send;
    this.#fail = fail;
    byId("composer").addEventListener("submit", (event) => {
      event.preventDefault();
      this.#submit();
    });
    this.#box.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
      event.preventDefault();
      this.#submit();
    });
  }

  /** The session of this id is written to from now on. Each has its own draft, as long as the page is open. */
  begin(id) {
    this.#keep(this.#id, this.#box.value);
    this.#id = id;
    this.#box.value = this.#drafts.get(id) ?? "";
  }

  focus() {
    this.#box.focus();
  }

  draw(runs) {
    this.#box.disabled = !runs;
    byId("send").disabled = !runs;
  }

  #keep(id, text) {
    this.#drafts.delete(id);
    if (text) this.#drafts.set(id, text);
    if (this.#drafts.size > DRAFTS) this.#drafts.delete(this.#drafts.keys().next().value);
  }

  async #submit() {
    const id = this.#id;
    const text = this.#box.value;
    if (this.#sending.has(id) || !text.trim()) return;
    this.#sending.add(id);
    try {
      await this.#send(id, text);
      this.#sent(id, text);
    } catch (error) {
      this.#fail(error, id);
    } finally {
      this.#sending.delete(id);
    }
  }

  /** What was written since then stays. */
  #sent(id, text) {
    if (id === this.#id && this.#box.value === text) this.#box.value = "";
    if (id !== this.#id && this.#drafts.get(id) === text) this.#drafts.delete(id);
  }
}
