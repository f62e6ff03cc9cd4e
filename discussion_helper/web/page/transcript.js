// What was said: the turns, the words that were never heard, and what is being said at this moment.

import { byId, clockTime, isLong, make, show } from "./element.js";
import { invite } from "./invitation.js";
import { earlier } from "./order.js";
import { parts } from "./unheard.js";

const NEAR_END_PX = 80;
const NAMES = { user: "You", agent: "Agent" };

/** Draws the state; turns that are there already stay as they are, so that a selection in them stays too. */
export class Transcript {
  #list = byId("transcript");
  #box = byId("said");
  #drawn = [];
  #live = [];
  #shown = [];

  /** `heard`: whether what somebody says now is heard. */
  draw(state, connection, heard) {
    invite(state.session, connection, heard);
    const { utterances } = state.session ?? {};
    const shown = [utterances, state.notes, state.live.user, state.live.agent, state.live.tool];
    if (shown.every((each, at) => each === this.#shown[at]) && this.#shown.length > 0) return;
    this.#shown = shown;
    const follows = this.#box.scrollHeight - this.#box.scrollTop - this.#box.clientHeight < NEAR_END_PX;
    const lines = linesOf(state);
    const same = this.#countSame(lines);
    for (const { element } of this.#drawn.splice(same)) element.remove();
    for (const element of this.#live) element.remove();
    for (const line of lines.slice(same)) this.#add(line);
    this.#live = liveLines(state);
    this.#list.append(...this.#live);
    show(byId("empty"), lines.length === 0 && this.#live.length === 0);
    if (follows) this.#box.scrollTop = this.#box.scrollHeight;
  }

  #countSame(lines) {
    const different = lines.findIndex((line, at) => this.#drawn[at]?.key !== line.key);
    return different < 0 ? lines.length : different;
  }

  #add(line) {
    const element = line.make();
    this.#drawn.push({ key: line.key, element });
    this.#list.append(element);
  }
}

/** In the order in which the turns began, which is not that in which they were known; a note stays behind what it is about. */
function linesOf(state) {
  const utterances = state.session?.utterances ?? [];
  const lines = [];
  let latest_s = 0;
  for (let at = 0; at <= utterances.length; at += 1) {
    for (const note of state.notes.filter((one) => one.after === at)) lines.push({ ...noteLine(note), started_s: latest_s });
    if (at === utterances.length) break;
    const { started_s } = utterances[at];
    latest_s = Math.max(latest_s, started_s);
    lines.push({ ...lineOf(state.session.id, utterances[at]), started_s });
  }
  return lines.sort(earlier);
}

function noteLine({ text }) {
  return { key: `note ${text}`, make: () => make("li", { class: "note" }, boxed(text)) };
}

/** A text of bounded height. */
function boxed(text) {
  return make("p", { class: "long", tabindex: isLong(text) ? "0" : null }, text);
}

function lineOf(id, utterance) {
  const key = JSON.stringify([id, utterance.speaker, utterance.text, utterance.said, utterance.interrupted]);
  return { key, make: () => turn(utterance) };
}

function turn(utterance) {
  const { heard, unheard } = parts(utterance);
  const words = make("p", { class: "words", dir: "auto" }, heard);
  if (unheard) {
    words.append(heard ? " " : "", make("span", { class: "unseen" }, "(not heard: "));
    words.append(make("span", { class: "unheard", title: "Not heard" }, unheard), make("span", { class: "unseen" }, ")"));
  }
  if (!heard && !unheard) words.append(make("em", { class: "hint" }, "nothing was heard of it"));
  const cut = utterance.interrupted ? make("span", { class: "cut" }, "interrupted") : null;
  const head = make("p", { class: "who" }, NAMES[utterance.speaker], make("span", { class: "when" }, clockTime(utterance.started_s)), cut);
  const tools = (utterance.calls ?? []).map((call) => make("li", {}, `${call.name}(${call.arguments})`));
  return make("li", { class: `turn ${utterance.speaker}` }, head, words, tools.length ? make("ul", { class: "tools" }, ...tools) : null);
}

/** Not yet turns: a screen reader is told when they are. */
function liveLines(state) {
  const { user, agent, tool } = state.live;
  const lines = [];
  if (user?.text) lines.push(live("user", heardSoFar(user)));
  if (tool) lines.push(make("li", { class: "note", "aria-hidden": "true" }, `Uses ${tool} …`));
  if (agent) lines.push(live("agent", make("p", { class: "words", dir: "auto" }, agent)));
  return lines;
}

function heardSoFar({ text, stable }) {
  const settled = stable && text.startsWith(stable) ? stable : "";
  return make("p", { class: "words", dir: "auto" }, settled, make("span", { class: "unsure" }, text.slice(settled.length)), " …");
}

function live(speaker, words) {
  return make("li", { class: `turn live ${speaker}`, "aria-hidden": "true" }, make("p", { class: "who" }, NAMES[speaker]), words);
}
