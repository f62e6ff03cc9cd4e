// A decision in words for a person, and its figures with their units.

import { clockTime, delay } from "./element.js";

const WHATS = {
  turn: "Taken as your turn",
  interruption: "Cut the agent off",
  ignored: "Not taken as a turn",
  "half duplex": "Over the agent only a loud voice is heard from now on",
  resumed: "The agent went on",
  waiting: "Still waiting",
  wake: "The wake word was heard",
  language: "Another language from now on",
  unclear: "Not understood",
  unanswered: "Nothing was answered",
  failed: "No answer",
};
const WHYS = {
  words: "there were words in it",
  "no words": "there were no words in it",
  "no words in it": "there were no words in it",
  "no words in time": "no words of it were made out in time",
  "no voice": "there was no voice in it",
  echo: "it was the agent's own voice",
  "the agent's own voice": "it was the agent's own voice",
  "the agent's own words": "they were the agent's own words",
  "a stop word": "you said a word that stops the agent",
  "a listener's response": "that is what somebody says who listens",
  "half duplex": "only a loud voice is heard over the agent",
  "barge-in is off": "the agent is not to be interrupted here",
  "not understood": "the words were not made out",
};
const seconds = (value) => delay(value);
const percent = (value) => `${Math.round(100 * value)} %`;
const FIGURES = {
  started_s: ["Voice began at", tenths],
  ended_s: ["Voice ended at", tenths],
  voiced_s: ["Voice in it", seconds],
  level_dbfs: ["Loudest", (value) => `${value} dBFS`],
  over_echo_db: ["Above what was to be expected", (value) => `${value} dB`],
  ducked_s: ["Agent turned down for", seconds],
  doubt: ["Doubt about the words", (value) => `${value} (0 is none)`],
  score: ["Words that the agent had just said", percent],
  rule: ["End of the turn by", String],
  wait_s: ["Silence before the end", seconds],
  usual_s: ["Your usual pause", seconds],
  prosody: ["Sounded complete", percent],
  complete: ["Words were complete", percent],
  language: ["Language", String],
  before: ["Language before", String],
  said: ["The agent said", String],
};
const TOLD = ["kind", "what", "why", "at_s", "text", "fix"];

/** One sentence, and a second one where the agent was turned down. */
export function sentenceOf({ what, why, ducked_s: ducked = 0 }) {
  const reason = WHYS[why] ?? why;
  const first = `${WHATS[what] ?? what}${reason ? `: ${reason}` : ""}.`;
  return ducked > 0 ? `${first} The agent was turned down for ${delay(ducked)}.` : first;
}

/** Pairs of a name and a value with its unit; what is not known here is told as it came. */
export function figuresOf(decision) {
  const figures = Object.entries(decision).filter(([name]) => !TOLD.includes(name));
  return figures.map(([name, value]) => figure(name, value, decision));
}

function figure(name, value, { text }) {
  if (name === "score" && !text) return ["Sureness of the wake word", percent(value)];
  const [label, told] = FIGURES[name] ?? [name.replaceAll("_", " "), String];
  if (typeof value === "object") return [label, JSON.stringify(value)];
  return [label, typeof value === "string" ? value : told(value)];
}

function tenths(value) {
  const whole = Math.max(0, Math.round(value * 10));
  return `${clockTime(whole / 10)}.${whole % 10}`;
}
