// Who has the floor, how loud the microphone is, and whether the page still knows.

import { byId, clockTime, setLong, setText, show } from "./element.js";
import { ACTS, headlineOf, isMuted } from "./headline.js";

const CONNECTIONS = {
  none: "No session",
  connecting: "Connecting",
  live: "Live",
  lost: "Connection lost, trying again",
  gone: "Gone",
  over: "Ended",
};
const ENDS = { finished: "It was over.", silence: "Nobody said anything.", stopped: "It was ended.", failed: "It failed.", abandoned: "Nobody was there any more." };
/** What goes while the machine is busy, as a person would say it. */
export const SHED = {
  interim: "your words while you say them",
  speculation: "answers prepared ahead of time",
  second_opinion: "a second look at unclear words",
  recogniser: "the finer understanding of speech",
};
const QUIETEST_DBFS = -60;
const touch = window.matchMedia("(hover: none) and (pointer: coarse)"); // as in parts.css

/** Draws the strip above the transcript and the badge in the header; `act(name)` is one of ACTS. */
export class FloorStrip {
  #meter = byId("level");
  #since = 0;
  #told = null;
  #elapsed = null;
  #act = "";

  constructor(act) {
    byId("act").addEventListener("click", () => {
      byId("said").focus({ preventScroll: true }); // the button goes
      act(this.#act);
    });
    setInterval(() => this.#tick(), 1000);
  }

  /** `audio` null: this page is not the microphone. What is drawn, as `headlineOf` gives it. */
  draw(state, connection, audio) {
    const { session, live } = state;
    const headline = headlineOf(session, connection, audio);
    this.#badge(connection.state === "live" && audio?.state === "lost" ? "lost" : connection.state);
    this.#headline(headline);
    this.#clock(session, connection.state === "live");
    show(byId("meter"), session?.kind === "voice" && session.running && (headline.heard || audio?.live === true));
    this.#level(audio?.level ?? (headline.heard ? live.level : null));
    const known = connection.state === "live" || connection.state === "over";
    const note = connection.fix || (known ? noteOf(session, live, audio) : "");
    setLong(byId("state-note"), note);
    show(byId("state-note"), note !== "");
    return headline;
  }

  #badge(state) {
    byId("connection").dataset.state = state;
    setText(byId("connection"), CONNECTIONS[state]);
  }

  #headline({ text, act, floor }) {
    byId("floor").dataset.floor = floor;
    setText(byId("floor-text"), text);
    this.#act = act;
    setText(byId("act"), ACTS[act] ?? "");
    show(byId("act"), act !== "");
  }

  /** Each event tells the session's time; between two of them it goes on, as long as the page knows that it runs. */
  #clock(session, live) {
    if (session !== this.#told) this.#since = performance.now();
    this.#told = session;
    this.#elapsed = session && live && session.running ? session.elapsed_s : null;
    if (this.#elapsed === null) setText(byId("clock"), session ? clockTime(session.elapsed_s) : "");
    else this.#tick();
  }

  #tick() {
    if (this.#elapsed === null) return;
    setText(byId("clock"), clockTime(this.#elapsed + (performance.now() - this.#since) / 1000));
  }

  #level(dbfs) {
    const part = dbfs === null ? 0 : 1 - Math.min(0, Math.max(QUIETEST_DBFS, dbfs)) / QUIETEST_DBFS;
    this.#meter.style.setProperty("--level", part.toFixed(3));
  }
}

function noteOf(session, live, audio) {
  if (session === null) return "";
  if (!session.running) return [ENDS[session.reason], session.error].filter(Boolean).join(" ");
  const lines = [audio?.why, live.fault, isMuted(session, audio) ? "The microphone is closed." : ""];
  if (session.turn_policy === "push_to_talk") lines.push(keyNote(session.attention === "pressed"));
  if (session.turn_policy === "wake_word" && session.attention !== "awake") lines.push("Say the wake word first.");
  if (session.shed?.now.length) lines.push(`The machine is busy: for now without ${session.shed.now.map((what) => SHED[what] ?? what).join(", ")}.`);
  return lines.filter(Boolean).join(" ");
}

function keyNote(pressed) {
  if (pressed) return "You have the floor until you let go.";
  return touch.matches ? "Hold the button below to talk." : "Hold the space bar or the key to talk.";
}
