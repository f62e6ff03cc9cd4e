// What each voice was taken for, and why; drawn only while somebody looks.

import { figuresOf, sentenceOf } from "./decision_words.js";
import { byId, clockTime, make, setText } from "./element.js";

/** A disclosure: its list is made when it is opened, and kept up to date while it is. */
export class Decisions {
  #box = byId("decisions");
  #list = byId("decision-list");
  #all = [];
  #drawn = null;
  #items = new WeakMap(); // by their decisions, so that figures which somebody opened stay open

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
    const kept = new Set(this.#all.map((decision) => this.#itemOf(decision)));
    for (const item of [...this.#list.children]) if (!kept.has(item)) item.remove();
    for (const item of kept) if (item.parentElement === null) this.#list.prepend(item); // the newest is the first
  }

  #itemOf(decision) {
    if (!this.#items.has(decision)) this.#items.set(decision, itemOf(decision));
    return this.#items.get(decision);
  }
}

function itemOf(decision) {
  const head = make("p", {}, make("span", { class: "when" }, clockTime(decision.at_s)), " ", sentenceOf(decision));
  const words = decision.text ? make("q", { dir: "auto" }, decision.text) : null;
  const fix = decision.fix ? make("p", { class: "hint" }, decision.fix) : null;
  return make("li", {}, head, words, fix, disclosed(figuresOf(decision)));
}

function disclosed(figures) {
  if (!figures.length) return null;
  const rows = figures.map(([name, value]) => make("div", {}, make("dt", {}, name), make("dd", {}, value)));
  return make("details", { class: "figures" }, make("summary", {}, "Figures"), make("dl", {}, ...rows));
}
