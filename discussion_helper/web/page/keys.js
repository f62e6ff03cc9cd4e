// The keyboard, where the focus is in no field.

/** Single keys while `inForce()`: `press()` and `release()` of the space bar, `interrupt()`, `mute()`, `write()`. */
export class Keys {
  #held = false;

  constructor({ inForce, hasKey, press, release, interrupt, mute, write }) {
    document.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.altKey || event.metaKey || event.isComposing) return;
      if (event.key === "Escape") return void interrupt();
      if (isField(event.target) || !inForce()) return;
      if (event.code === "Space" && hasKey()) this.#down(event, press);
      else if (event.key.toLowerCase() === "m" && !event.repeat) mute();
      else if (event.key === "/") {
        event.preventDefault();
        write();
      }
    });
    document.addEventListener("keyup", (event) => {
      if (event.code === "Space" && this.#held) this.#up(event, release);
    });
    // A key that is let go of elsewhere is let go of all the same.
    window.addEventListener("blur", () => this.#held && this.#up(null, release));
  }

  /** Space also presses buttons: with the key in force it talks, whatever has the focus outside a field. */
  #down(event, press) {
    event.preventDefault();
    if (event.repeat || this.#held) return;
    this.#held = true;
    press();
  }

  #up(event, release) {
    event?.preventDefault();
    this.#held = false;
    release();
  }
}

function isField(element) {
  return element.closest?.("input, textarea, select, [contenteditable]") !== null;
}
