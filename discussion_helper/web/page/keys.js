// The keyboard, where the focus is in no field.

/** Single keys while `inForce()`: `press(key)` and `release(key)` of the space bar, `interrupt()`, `mute()`, `write()`. */
export class Keys {
  #held = false;

  constructor({ inForce, hasKey, press, release, interrupt, mute, write }) {
    document.addEventListener("keydown", (event) => {
      if (this.#held && event.code === "Space" && event.repeat) return void event.preventDefault(); // wherever the focus is by now
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
    window.addEventListener("blur", () => {
      this.#held = false; // it comes up elsewhere
    });
  }

  /** Space also presses buttons: with the key in force it talks, whatever has the focus outside a field. */
  #down(event, press) {
    event.preventDefault();
    if (event.repeat) return;
    this.#held = true;
    press(event.code);
  }

  #up(event, release) {
    event.preventDefault();
    this.#held = false;
    release(event.code);
  }
}

function isField(element) {
  return element.closest?.("input, textarea, select, [contenteditable]") !== null;
}
