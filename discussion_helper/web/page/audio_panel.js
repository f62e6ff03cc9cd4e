// What the page shows of this browser's microphone.

import { byId, make, setLong, show } from "./element.js";
import { microphones } from "./microphone.js";

const STATES = {
  off: "Not connected",
  closed: "Not connected",
  connecting: "Connecting",
  live: "Connected: this browser is the microphone",
  lost: "Connection lost, trying again",
  paused: "The browser paused the sound",
  owned: "Another tab or program has the microphone",
  taken: "Another tab or program took the microphone",
  refused: "The server refuses the connection",
  over: "The session is over",
};

/** `join(take)` connects, `use(device)` changes the microphone, `record(on)` begins or ends a recording. */
export class AudioPanel {
  #select = byId("device");

  constructor({ join, use, record }) {
    byId("join").addEventListener("click", () => join(false));
    byId("take").addEventListener("click", () => join(true));
    this.#select.addEventListener("change", () => use(this.#select.value));
    byId("record").addEventListener("change", (event) => record(event.target.checked));
    navigator.mediaDevices?.addEventListener("devicechange", () => this.list());
  }

  get device() {
    return this.#select.value;
  }

  /** Ask the browser which microphones there are. */
  async list() {
    const found = await microphones();
    const before = this.#select.value; // as it was chosen until now
    this.#select.replaceChildren(make("option", { value: "" }, "The system's usual one"), ...found.map(({ id, label }) => make("option", { value: id }, label)));
    if (found.some(({ id }) => id === before)) this.#select.value = before;
  }

  /** `audio` null: this session's microphone is none of this page's business. `free`: nobody has it any more. */
  draw(audio, offered, free) {
    show(byId("browser-audio"), offered);
    if (!offered) return;
    const state = audio === null || free ? "off" : audio.state;
    setLong(byId("audio-state"), [STATES[state], audio?.muted ? "Muted." : "", audio?.opening ? "The browser opens the microphone." : "", audio?.why].filter(Boolean).join(". ").replace("..", "."));
    show(byId("take"), state === "owned" || state === "taken");
    show(byId("join"), state === "off" || state === "closed" || state === "refused");
  }
}
