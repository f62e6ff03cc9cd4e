// Light, dark, or as the system has it; the choice is kept in this browser.

import { read, write } from "./choices.js";
import { byId } from "./element.js";

const KEY = "theme";
const THEMES = ["auto", "light", "dark"];

/** Three buttons of which one is pressed. */
export class Theme {
  #buttons = [...byId("theme").querySelectorAll("button")];

  constructor() {
    for (const button of this.#buttons) button.addEventListener("click", () => this.#choose(button.dataset.theme));
    const kept = read(KEY);
    this.#apply(THEMES.includes(kept) ? kept : "auto");
  }

  #choose(theme) {
    write(KEY, theme);
    this.#apply(theme);
  }

  #apply(theme) {
    document.documentElement.dataset.theme = theme;
    for (const button of this.#buttons) button.setAttribute("aria-pressed", String(button.dataset.theme === theme));
  }
}
