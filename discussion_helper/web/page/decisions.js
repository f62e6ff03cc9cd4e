// What each voice was taken for, and why; drawn only while somebody looks.

import { byId, clockTime, make, setText } from "./element.js";

const TOLD = ["kind", "what", "why", "at_s", "text", "fix"];

/** A disclosure: its list is made when it is opened, and kept up to date while it is. */
export class Decisions {
  #box = byId("decisions");
  #list = byId("decision-list");
  #all = [];
  #drawn = null;

  constructor() {
    this.#box.addEventListener("toggle", () => this.#fill());
  }

  draw(decisions) {
    this.#all = decisions;
    setText(byId("decision-count"), String(decisions.length));
    this.#fill();
  }

  #fill() {
    if (!this.#box.open || this.#drawn === this.#all) return;
    this.#drawn = this.#all;
    this.#list.replaceChildren(...this.#all.toReversed().map(lineOf));
  }
}

function lineOf(decision) {
  const head = make("p", {}, make("span", { class: "when" }, clockTime(decision.at_s)), " ", make("strong", {}, decision.what), decision.why ? `: ${decision.why}` : "");
  const words = decision.text ? make("q", { dir: "auto" }, decision.text) : null;
  const fix = decision.fix ? make("p", { class: "hint" }, decision.fix) : null;
  const figures = Object.entries(decision).filter(([name]) => !TOLD.includes(name));
  const told = figures.map(([name, value]) => `${name} ${typeof value === "object" ? JSON.stringify(value) : value}`).join(", ");
  return make("li", {}, head, words, fix, told ? make("p", { class: "figures" }, told) : null);
}
