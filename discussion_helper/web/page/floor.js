// Who has the floor, how loud the microphone is, and whether the page still knows.

import { byId, clockTime, setText, show } from "./element.js";

const FLOORS = {
  idle: "Nobody has the floor",
  listening: "Listening",
  thinking: "Thinking",
  speaking: "Speaking",
};
const WRITTEN = { idle: "Closed", listening: "Your turn", thinking: "Thinking", speaking: "Answering" };
const CONNECTIONS = {
  none: "No session",
  connecting: "Connecting",
  live: "Live",
  lost: "Connection lost, trying again",
  gone: "Gone",
  over: "Ended",
};
const ENDS = { finished: "It was over.", silence: "Nobody said anything.", stopped: "It was ended.", failed: "It failed." };
const QUIETEST_DBFS = -60;

/** Draws the strip above the transcript and the badge in the header. */
export class FloorStrip {
  #meter = byId("level");
  #since = 0;
  #told = null;
  #elapsed = null;

  constructor() {
    setInterval(() => this.#tick(), 1000);
  }

  draw(state, connection, audio) {
    const { session, live } = state;
    const known = connection.state === "live" || connection.state === "over";
    const badge = byId("connection");
    badge.dataset.state = connection.state;
    setText(badge, CONNECTIONS[connection.state]);
    byId("floor").dataset.floor = session && known ? session.floor : "none";
    setText(byId("floor-text"), floorText(session, known));
    this.#clock(session, connection.state === "live");
    show(byId("meter"), session?.kind === "voice" && session.running);
    this.#level(audio.level ?? (known ? live.level : null));
    const note = connection.why || noteOf(session, live, audio);
    setText(byId("state-note"), note);
    show(byId("state-note"), note !== "");
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

/** The microphone of a session in a browser is closed for the server too while no browser is there. */
export function isMuted(session, audio) {
  return audio.muted || (session?.transport === "local" && session.microphone === "muted");
}

function floorText(session, known) {
  if (session === null) return "Choose or open a session";
  if (!known) return "Not known while the connection is lost";
  if (!session.running) return "Ended";
  return (session.kind === "text" ? WRITTEN : FLOORS)[session.floor] ?? session.floor;
}

function noteOf(session, live, audio) {
  if (session === null) return "";
  if (!session.running) return [ENDS[session.reason], session.error].filter(Boolean).join(" ");
  const lines = [live.fault, isMuted(session, audio) ? "The microphone is closed." : ""];
  if (session.turn_policy === "push_to_talk") {
    lines.push(session.attention === "pressed" ? "You have the floor until you let go." : "Hold the space bar or the key to talk.");
  }
  if (session.turn_policy === "wake_word" && session.attention !== "awake") lines.push("Waiting for the wake word.");
  if (session.shed?.now.length) lines.push(`The machine is busy: without ${session.shed.now.join(", ")}.`);
  return lines.filter(Boolean).join(" ");
}
