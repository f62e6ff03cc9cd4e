// Captions of what was heard, as SubRip and as WebVTT.

import { earlier } from "./order.js";

const SHORTEST_S = 0.7;
const NAMES = { user: "You", agent: "Agent" };

/** What was heard, with its times, from the first on; what nobody heard is no caption. */
export function cuesOf(utterances) {
  const heard = utterances.filter((one) => one.text.trim()).sort(earlier);
  return heard.map((one) => ({
    from: one.started_s,
    to: Math.max(one.ended_s, one.started_s + SHORTEST_S),
    who: NAMES[one.speaker],
    text: one.text.trim().replace(/\s*\n\s*/g, "\n"),
  }));
}

/** SubRip. */
export function srtOf(utterances) {
  const cues = cuesOf(utterances).map(({ from, to, who, text }, at) => `${at + 1}\n${stamp(from, ",")} --> ${stamp(to, ",")}\n${who}: ${safe(text)}\n`);
  return cues.join("\n");
}

/** WebVTT, with the speaker as its voice. */
export function vttOf(utterances) {
  const cues = cuesOf(utterances).map(({ from, to, who, text }) => `${stamp(from, ".")} --> ${stamp(to, ".")}\n<v ${who}>${escaped(text)}\n`);
  return ["WEBVTT\n", ...cues].join("\n");
}

function stamp(seconds, point) {
  const ms = Math.max(0, Math.round(seconds * 1000));
  const pad = (number, width = 2) => String(number).padStart(width, "0");
  const whole = Math.floor(ms / 1000);
  return `${pad(Math.floor(whole / 3600))}:${pad(Math.floor(whole / 60) % 60)}:${pad(whole % 60)}${point}${pad(ms % 1000, 3)}`;
}

/** "-->" would begin another cue. */
function safe(text) {
  return text.replaceAll("-->", "→");
}

function escaped(text) {
  return safe(text).replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
