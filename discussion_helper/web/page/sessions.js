// The sessions that are open, the threads that are kept, and the buttons that open one.

import { ask, sessionPath } from "./api.js";
import { byId, clockTime, make, show } from "./element.js";
import { opened, reasonOf } from "./microphone.js";

const LOOKED_AT = 20;
const KINDS = { voice: "By voice", text: "In writing" };
const NEW = { voice: "talk", text: "text" };

/**
 * `choose(id)` follows one, `opened(state, stream)` is told of a new one, `stream` that of the microphone where it is
 * this browser's `device()`, and `fail(error)` of what went wrong.
 */
export class Sessions {
  #choose;
  #opened;
  #fail;
  #device;
  #current = null;
  #seen = new Map();
  #looking = false;
  #again = false;
  #followed = null;
  #uses = { voice: { ok: true }, remote: { ok: true }, text: { ok: true } }; // until it is known
  #busy = new Set(); // buttons that open one at this moment
  #keeps = null; // whether the server keeps what is said by voice, unasked

  constructor({ choose, opened, fail, device }) {
    this.#choose = choose;
    this.#opened = opened;
    this.#fail = fail;
    this.#device = device;
    byId("open-local").addEventListener("click", (event) => this.#open(event.target, { transport: "local" }));
    byId("open-browser").addEventListener("click", (event) => this.#openHere(event.target));
    byId("open-text").addEventListener("click", (event) => this.#open(event.target, { kind: "text" }));
    byId("refresh").addEventListener("click", () => this.look());
  }

  /** The one that is followed now. */
  set current(id) {
    this.#current = id;
    for (const button of byId("sessions").querySelectorAll("button")) mark(button, button.dataset.id === id);
    if (id && !this.#seen.has(id)) this.look(); // somebody else opened it
  }

  /** What is followed is known better than when the list was made. */
  know(session) {
    this.#followed = session;
    const known = session === null ? undefined : this.#seen.get(session.id);
    if (known === undefined) return;
    const same = known.title === session.title && known.running === session.running;
    this.#seen.set(session.id, session);
    const item = byId("sessions").querySelector(`[data-id="${CSS.escape(session.id)}"]`)?.parentElement;
    if (!same) item?.querySelector("button").replaceChildren(...this.#label(session.id, session));
  }

  /** Ask the server for all that there is. */
  async look() {
    this.#again = this.#looking; // what is found now may be older than what is asked for
    if (this.#looking) return;
    this.#looking = true;
    try {
      const [ids, { uses, keeps }] = await Promise.all([ask("GET", "/sessions"), ask("GET", "/health")]);
      await this.#lookAt(ids);
      this.#list(ids);
      this.know(this.#followed);
      this.#kept(uses.text ? await ask("GET", "/threads") : [], ids);
      this.#usable(uses);
      this.#keepable(uses, keeps);
    } catch (error) {
      this.#fail(error);
    } finally {
      this.#looking = false;
    }
    if (this.#again) await this.look();
  }

  async #lookAt(ids) {
    const others = ids.slice(-LOOKED_AT).filter((id) => id !== this.#followed?.id);
    const found = await Promise.all(others.map((id) => ask("GET", sessionPath(id)).catch(() => null)));
    if (this.#followed) found.push(this.#followed);
    this.#seen = new Map(found.filter(Boolean).map((state) => [state.id, state]));
  }

  #list(ids) {
    const items = ids.toReversed().map((id) => this.#item(id, this.#seen.get(id)));
    byId("sessions").replaceChildren(...(items.length ? items : [make("li", { class: "hint" }, "None is open")]));
  }

  #item(id, state) {
    const button = make("button", { type: "button", class: "row", "data-id": id, onclick: () => this.#choose(id) }, ...this.#label(id, state));
    mark(button, id === this.#current);
    return make("li", {}, button);
  }

  #label(id, state) {
    const title = state ? nameOf(state) : id.slice(0, 8);
    const kept = state?.thread_id ? ", kept" : "";
    const about = state ? `${KINDS[state.kind] ?? state.kind}, ${whenOf(state)}${kept}` : "";
    return [make("span", { class: "title", dir: "auto" }, title), make("span", { class: "about" }, about)];
  }

  #kept(threads, ids) {
    const open = new Set([...ids, ...ids.map((id) => this.#seen.get(id)?.thread_id)]);
    const closed = threads.filter((thread) => !open.has(thread.id)).slice(0, LOOKED_AT);
    const items = closed.map((thread) => this.#keptItem(thread));
    byId("threads").replaceChildren(...(items.length ? items : [make("li", { class: "hint" }, "None is kept")]));
  }

  /** It is gone on with in writing or, with the second button, by voice in this browser. */
  #keptItem({ id: thread_id, first, error, updated_at }) {
    const title = first || "(empty)";
    const about = error ? "cannot be read" : moment(new Date(updated_at));
    const write = make("button", { type: "button", class: "row", onclick: () => this.#open(write, { kind: "text", thread_id }) }, make("span", { class: "title", dir: "auto" }, title), make("span", { class: "about" }, about));
    const talk = make("button", { type: "button", class: "by-voice", "aria-label": `Go on by voice: ${title}`, onclick: () => this.#openHere(talk, { thread_id }) }, "By voice");
    return make("li", { class: "kept" }, write, error ? null : talk);
  }

  #usable(uses) {
    const { voice, remote } = uses;
    const lines = [missingOf("on the server's machine", voice), missingOf("in this browser", remote)].filter(Boolean);
    const works = lines.length > 0 && remote?.ok ? " Talking in this browser works." : "";
    const link = make("a", { href: "/health", target: "_blank" }, "What helps");
    byId("unusable").replaceChildren(...(lines.length ? [`${lines.join(" ")} `, link, ".", works] : []));
    show(byId("unusable"), lines.length > 0);
    this.#uses = uses;
    this.#enable();
  }

  /** What cannot be held is not offered; it is again as soon as a look finds all that it needs. */
  #enable() {
    const { voice, remote, text } = this.#uses;
    for (const [id, on] of [["open-local", voice?.ok], ["open-browser", remote?.ok], ["open-text", text]]) {
      byId(id).disabled = !on || this.#busy.has(byId(id));
    }
    for (const talk of byId("threads").querySelectorAll(".by-voice")) talk.disabled = !remote?.ok || this.#busy.has(talk);
  }

  /** One at a time of each button, however often it is clicked; a look meanwhile changes nothing of that. */
  #hold(button, on) {
    if (on) this.#busy.add(button);
    else this.#busy.delete(button);
    button.disabled = on;
    this.#enable();
  }

  /** The box is as the server would have it, until somebody ticks it or the server is another one. */
  #keepable(uses, keeps) {
    show(byId("keep-choice"), Boolean(uses.text));
    if (this.#keeps !== keeps) byId("keep").checked = keeps;
    this.#keeps = keeps;
  }

  /** Where the browser gives no microphone nothing is opened that nobody would talk in. */
  async #openHere(button, more = {}) {
    this.#hold(button, true);
    try {
      const stream = await opened(this.#device());
      if (!(await this.#open(button, { transport: "remote", ...more }, stream))) for (const track of stream.getTracks()) track.stop();
    } catch (error) {
      this.#fail(new Error(reasonOf(error)));
    } finally {
      this.#hold(button, false);
    }
  }

  /** What is ticked for a session by voice; whether to keep it only where the box was shown, and it is not kept as it is. */
  #choices({ kind, thread_id }) {
    if (kind === "text") return {};
    const key = byId("with-key").checked ? { turn_policy: "push_to_talk" } : {};
    return thread_id || byId("keep-choice").hidden ? key : { ...key, keep: byId("keep").checked };
  }

  async #open(button, body, stream = null) {
    this.#hold(button, true);
    try {
      this.#opened(await ask("POST", "/sessions", { ...body, ...this.#choices(body) }), stream);
    } catch (error) {
      this.#fail(error);
      return false;
    } finally {
      this.#hold(button, false);
    }
    await this.look();
    return true;
  }
}

/** Its title; until there is one, which begins as its id does, what it is and since when. */
function nameOf(state) {
  if (state.title && state.title !== state.id.slice(0, 8)) return state.title;
  const kind = NEW[state.kind] ?? state.kind;
  return state.running ? `New ${kind}, ${moment(begun(state))}` : `Empty ${kind}`;
}

function begun({ elapsed_s }) {
  return new Date(Date.now() - elapsed_s * 1000);
}

function missingOf(where, use) {
  return use && !use.ok ? `No talk ${where}: ${use.missing.join(", ")} missing.` : "";
}

/** When it began, or how long it was. */
function whenOf(state) {
  return state.running ? `since ${moment(begun(state))}` : `ended after ${clockTime(state.elapsed_s)}`;
}

/** Date and time, for today the time alone. */
function moment(date) {
  const today = date.toDateString() === new Date().toDateString();
  return date.toLocaleString([], { ...(today ? {} : { dateStyle: "medium" }), timeStyle: "short" });
}

function mark(button, on) {
  if (on) button.setAttribute("aria-current", "true");
  else button.removeAttribute("aria-current");
}
