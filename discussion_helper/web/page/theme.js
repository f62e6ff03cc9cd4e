// Light, dark, or as the system has it; the choice is kept in this browser.

import { byId } from "./element.js";

const KEY = "theme";
const THEMES = ["auto", "light", "dark"];

/** Three buttons of which one is pressed. */
export class Theme {
  #buttons = [...byId("theme").querySelectorAll("button")];

  constructor() {
    for (const button of this.#buttons) button.addEventListener("click", () => this.#choose(button.dataset.theme));
    this.#apply(kept());
  }

  #choose(theme) {
    try {
      localStorage.setItem(KEY, theme);
    } catch {
      // a browser that keeps nothing shows it all the same
    }
    this.#apply(theme);
  }

  #apply(theme) {
    document.documentElement.dataset.theme = theme;
    for (const button of this.#buttons) button.setAttribute("aria-pressed", String(button.dataset.theme === theme));
  }
}

function kept() {
  try {
    const theme = localStorage.getItem(KEY);
    return THEMES.includes(theme) ? theme : "auto";
  } catch {
    return "auto";
  }
}
