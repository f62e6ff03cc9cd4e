// What a screen reader is told: turns that are final, and never the words that a voice is speaking at this moment.

import { byId, make } from "./element.js";
import { parts } from "./unheard.js";

const KEPT = 6;

/**
 * Nothing is said while the agent speaks aloud. Its own turns are told afterwards where no loudspeaker of the session
 * was there to be heard, as in writing, and where somebody wants `all`.
 */
export class Announcer {
  #region = byId("announcer");
  #id = null;
  #told = 0;

  draw(session, sounds, all) {
    if (session === null) return;
    if (session.id !== this.#id) {
      this.#id = session.id;
      this.#told = session.utterances.length; // what was said before somebody came is read in the transcript
      this.#region.replaceChildren();
    }
    this.#told = Math.min(this.#told, session.utterances.length);
    if (sounds && session.floor === "speaking") return;
    for (const utterance of session.utterances.slice(this.#told)) this.#tell(utterance, all || !sounds);
    this.#told = session.utterances.length;
  }

  #tell(utterance, agentToo) {
    if (utterance.speaker === "agent" && !agentToo) return;
    const { heard, unheard } = parts(utterance);
    const name = utterance.speaker === "user" ? "You" : "Agent";
    const text = `${name}: ${heard}${unheard ? " (interrupted)" : ""}`;
    this.#region.append(make("p", {}, text));
    while (this.#region.childElementCount > KEPT) this.#region.firstElementChild.remove();
  }
}
