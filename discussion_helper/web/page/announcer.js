// What a screen reader is told: turns that are final, and never the words that a voice is speaking at this moment.

import { byId, make } from "./element.js";
import { parts } from "./unheard.js";

const KEPT = 6;
const SETTLED_MS = 1_000;

/**
 * Where the session sounds nothing is said until the floor was the user's for a second: an answer to the turn that
 * just came may begin at any moment. The agent's own turns are told then only where somebody wants `all`; where no
 * loudspeaker of the session is there to be heard, as in writing, every turn is told at once.
 */
export class Announcer {
  #region = byId("announcer");
  #session = null;
  #told = 0;
  #agentToo = false;
  #timer = 0;

  draw(session, sounds, all) {
    if (session === null) return;
    const before = this.#session;
    this.#session = session;
    this.#agentToo = all || !sounds;
    if (session.id !== before?.id) this.#begin(session);
    this.#told = Math.min(this.#told, session.utterances.length);
    if (!sounds) this.#tellAll();
    else if (session.floor !== before?.floor || session.utterances.length !== before.utterances.length) this.#wait();
  }

  /** What was said before somebody came is read in the transcript. */
  #begin(session) {
    clearTimeout(this.#timer);
    this.#told = session.utterances.length;
    this.#region.replaceChildren();
  }

  #wait() {
    clearTimeout(this.#timer);
    if (["thinking", "speaking"].includes(this.#session.floor)) return;
    this.#timer = setTimeout(() => this.#tellAll(), SETTLED_MS);
  }

  #tellAll() {
    clearTimeout(this.#timer);
    for (const utterance of this.#session.utterances.slice(this.#told)) this.#tell(utterance);
    this.#told = this.#session.utterances.length;
  }

  #tell(utterance) {
    if (utterance.speaker === "agent" && !this.#agentToo) return;
    const { heard, unheard } = parts(utterance);
    const name = utterance.speaker === "user" ? "You" : "Agent";
    const text = `${name}: ${heard}${unheard ? " (interrupted)" : ""}`;
    this.#region.append(make("p", {}, text));
    while (this.#region.childElementCount > KEPT) this.#region.firstElementChild.remove();
  }
}
