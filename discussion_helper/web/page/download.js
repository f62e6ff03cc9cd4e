// Downloads of what was said.

import { ask, sessionPath } from "./api.js";
import { srtOf, vttOf } from "./captions.js";
import { byId, make, setText, show } from "./element.js";

/** `current()` is the session as the page knows it, `recording()` a WAV as a Blob or null. */
export class Downloads {
  #current;

  constructor({ current, recording }) {
    this.#current = current;
    const save = (id, type, of) => byId(id).addEventListener("click", async () => this.#save(id.slice(5), type, of));
    save("save-json", "application/json", (session) => JSON.stringify(session, null, 2));
    save("save-srt", "application/x-subrip", (session) => srtOf(session.utterances));
    save("save-vtt", "text/vtt", (session) => vttOf(session.utterances));
    byId("save-wav").addEventListener("click", () => this.#give("wav", recording(), current()?.id));
  }

  /** `audio`: this browser's, or null. */
  draw(session, audio) {
    const recorded = audio !== null && audio.recording !== null && !audio.recording.empty;
    for (const id of ["save-json", "save-srt", "save-vtt"]) byId(id).disabled = session === null;
    byId("save-wav").disabled = !recorded;
    setText(byId("wav-why"), audio?.live ? "WAV: tick “Record both voices in this browser” first." : "WAV: only of a talk in this browser that is recorded here.");
    show(byId("wav-why"), !recorded);
  }

  /** The server knows when each turn began and ended; where it is away, the times of the events are told. */
  async #save(ending, type, of) {
    const known = this.#current();
    const session = await ask("GET", sessionPath(known.id)).catch(() => known);
    this.#give(ending, new Blob([of(session)], { type: `${type};charset=utf-8` }), known.id);
  }

  #give(ending, blob, id = "none") {
    if (blob === null) return;
    const address = URL.createObjectURL(blob);
    const link = make("a", { href: address, download: `conversation-${id.slice(0, 8)}.${ending}` });
    link.click();
    setTimeout(() => URL.revokeObjectURL(address), 10_000);
  }
}
