// Who has the floor, how loud the microphone is, and whether the page still knows.

import { Clock } from "./clock.js";
import { byId, setLong, setText, show } from "./element.js";
import { ACTS, headlineOf, isElsewhere, isMuted } from "./headline.js";

const CONNECTIONS = {
  none: "No session",
  connecting: "Connecting",
  live: "Live",
  lost: "Connection lost, trying again",
  gone: "Gone",
  over: "Ended",
};
const ENDS = { finished: "It was over.", silence: "Nobody said anything.", stopped: "It was ended.", failed: "It failed.", abandoned: "Nobody was there any more." };
/** What is otherwise while the machine is busy, as a person would say it. */
export const SHED = {
  interim: "your words are shown only after you have said them",
  speculation: "answers come a little later",
  second_opinion: "unclear words are not looked at twice",
  recogniser: "you are understood less well",
};
/** What a page can do that is not the microphone, by the button beside the headline. */
const ELSEWHERE = {
  connect: "Here you can read and write. To talk here, connect the microphone.",
  take: "Here you can read and write. To talk here, take the microphone.",
};
const CLOSED = "The microphone is closed.";
const QUIETEST_DBFS = -60;
const touch = window.matchMedia("(hover: none) and (pointer: coarse)"); // as in parts.css

/** Draws the strip above the transcript and the badge in the header; `act(name)` is one of ACTS. */
export class FloorStrip {
  #meter = byId("level");
  #clock = new Clock();
  #told = [null, { state: "none" }];
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
    this.#told = [session, connection];
    this.#tick();
    show(byId("meter"), session?.kind === "voice" && session.running && (headline.heard || audio?.live === true));
    this.#level(audio?.level ?? (headline.heard ? live.level : null));
    const known = connection.state === "live" || connection.state === "over";
    const note = connection.fix || (known ? noteOf(session, live, audio, headline.act) : "");
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

  #tick() {
    setText(byId("clock"), this.#clock.text(...this.#told, performance.now()));
  }

  #level(dbfs) {
    const part = dbfs === null ? 0 : 1 - Math.min(0, Math.max(QUIETEST_DBFS, dbfs)) / QUIETEST_DBFS;
    this.#meter.style.setProperty("--level", part.toFixed(3));
  }
}

function noteOf(session, live, audio, act) {
  if (session === null) return "";
  if (!session.running) return [ENDS[session.reason], session.error].filter(Boolean).join(" ");
  const lines = isElsewhere(session, audio) ? [audio?.why, audio?.here && audio.muted ? CLOSED : "", ELSEWHERE[act]] : hereNotes(session, live, audio);
  if (session.shed?.now.length) lines.push(`The machine is busy. For now ${listed(session.shed.now.map((what) => SHED[what] ?? `it does without ${what}`))}.`);
  return lines.filter(Boolean).join(" ");
}

/** What only who sits at the microphone can do anything about. */
function hereNotes(session, live, audio) {
  const lines = [audio?.why, live.fault, isMuted(session, audio) ? CLOSED : ""];
  const hasKey = session.transport === "local" || audio?.live === true;
  if (hasKey && session.turn_policy === "push_to_talk") lines.push(keyNote(session.attention === "pressed"));
  if (session.turn_policy === "wake_word" && session.attention !== "awake") lines.push("Say the wake word first.");
  return lines;
}

function listed(phrases) {
  return phrases.length < 2 ? phrases.join("") : `${phrases.slice(0, -1).join(", ")} and ${phrases.at(-1)}`;
}

function keyNote(pressed) {
  if (pressed) return "You have the floor until you let go.";
  return touch.matches ? "Hold the button below to talk." : "Hold the space bar or the key to talk.";
}
