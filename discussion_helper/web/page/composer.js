// The box in which a message is written.

import { byId } from "./element.js";

/** `send(text)` gives a promise; a message that did not go out stays in the box, and `fail(error)` tells why. */
export class Composer {
  #box = byId("text");
  #send;
  #fail;
  #sending = false;

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

  focus() {
    this.#box.focus();
  }

  draw(runs) {
    this.#box.disabled = !runs;
    byId("send").disabled = !runs;
  }

  async #submit() {
    const text = this.#box.value;
    if (this.#sending || !text.trim()) return;
    this.#sending = true;
    try {
      await this.#send(text);
      if (this.#box.value === text) this.#box.value = "";
    } catch (error) {
      this.#fail(error);
    } finally {
      this.#sending = false;
    }
  }
}
