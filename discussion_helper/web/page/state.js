// The page's state, folded from the server's snapshot and events. Nothing else ever changes it.

import { titleOf } from "./title.js";

const DECISIONS_KEPT = 200;
const STAGES = ["endpoint_s", "recognise_s", "think_s", "speak_s"];

/** Nothing is known yet. `session` is what GET /sessions/ID says; `live` what happens beside it at this moment. */
export function blank() {
  return { session: null, live: quiet(), decisions: [], notes: [] };
}

function quiet() {
  return { user: null, agent: "", level: null, fault: "", tool: "", uses: [], thinkingSince: null };
}

/** The state after one event; the one before is left as it was. */
export function fold(state, event) {
  if (event.kind === "snapshot") return snapshot(state, event.state);
  const change = CHANGES[event.kind];
  if (change === undefined || state.session === null) return state;
  const elapsed_s = Math.max(state.session.elapsed_s ?? 0, event.at_s ?? 0);
  return change({ ...state, session: { ...state.session, elapsed_s } }, event);
}

function snapshot(state, told) {
  const { live = {}, decisions = [], ...session } = told;
  const same = state.session?.id === session.id;
  const older = (one) => decisions.length === 0 || one.at_s < decisions[0].at_s;
  const kept = same ? state.decisions.filter(older) : [];
  const { fault, thinking_since_s: thinkingSince = null, ...present } = live;
  const now = { ...quiet(), ...present, fault: fault ? faultOf(fault) : "", thinkingSince };
  return { session, live: now, decisions: [...kept, ...decisions].slice(-DECISIONS_KEPT), notes: same ? state.notes : [] };
}

const CHANGES = {
  floor: changeFloor,
  utterance: addUtterance,
  timing: (state, event) => withTiming(state, without(event, "kind", "at_s")),
  ended: end,
  partial: hear,
  decision: (state, event) => ({ ...state, decisions: [...state.decisions, event].slice(-DECISIONS_KEPT) }),
  interruption: (state) => withLive(state, { agent: "" }),
  attention: (state, event) => withSession(state, { attention: event.state }),
  level: (state, event) => withLive(state, { level: event.dbfs }),
  tool: useTool,
  device: changeDevice,
  shed: changeShed,
};

function changeFloor(state, event) {
  const { floor, reason, error, at_s } = event;
  const text = state.session.kind === "text";
  let next = withSession(state, { floor });
  if (text && floor === "speaking" && state.live.thinkingSince !== null) {
    next = withTiming(next, timingOf(at_s - state.live.thinkingSince));
  }
  const live = { thinkingSince: floor === "thinking" ? at_s : null };
  if (floor === "listening" || floor === "idle") live.agent = "";
  next = withLive(next, live);
  return reason ? withNote(next, reason === "failed" ? `No answer: ${error ?? "it failed"}` : "Cancelled") : next;
}

/** In writing nothing but the model is waited for. */
function timingOf(think_s) {
  const rounded = Math.round(think_s * 1000) / 1000;
  const stages = { endpoint_s: 0, recognise_s: 0, think_s: rounded, speak_s: 0 };
  const slowest = STAGES.reduce((best, name) => (stages[name] > stages[best] ? name : best));
  return { ...stages, to_first_audio_s: rounded, slowest_stage: slowest.replace("_s", "") };
}

function addUtterance(state, event) {
  const { speaker, text, interrupted = false, said = "", at_s, started_s = at_s, ended_s = at_s, revises = [] } = event;
  const before = state.session.utterances;
  const kept = before.filter((_, at) => !revises.includes(at));
  const places = before.map((_, at) => kept.indexOf(before[at]));
  const calls = speaker === "agent" && state.live.uses.length ? { calls: state.live.uses } : {};
  const added = { speaker, text, said, interrupted, started_s, ended_s, ...calls };
  const utterances = [...kept, added];
  const notes = state.notes.map((note) => ({ ...note, after: placeAfter(note.after, places, kept.length) }));
  const cleared = speaker === "user" ? { user: null } : { agent: "", uses: [] };
  const title = titleOf(utterances, state.session.id ?? "");
  return withLive({ ...withSession(state, { title, utterances, interruption_rate: rateOf(utterances) }), notes }, cleared);
}

/** Where a note stands once some of the turns before it are gone. */
function placeAfter(after, places, count) {
  return Math.min(count, places.slice(0, after).filter((at) => at >= 0).length);
}

function rateOf(utterances) {
  const agent = utterances.filter((one) => one.speaker === "agent");
  return agent.length ? agent.filter((one) => one.interrupted).length / agent.length : 0;
}

function hear(state, event) {
  if (event.speaker === "user") return withLive(state, { user: event.text ? { text: event.text, stable: event.stable ?? "" } : null });
  if (event.delta !== undefined) return withLive(state, { agent: state.live.agent + event.delta });
  return withLive(state, { agent: [state.live.agent, event.text].filter(Boolean).join(" ") });
}

/** Those that are over belong to the agent's next turn. */
function useTool(state, event) {
  const { id = "", name = "", arguments: given = "", result = "", is_error = false } = event;
  if (event.state !== "done") return withLive(state, { tool: name });
  return withLive(state, { tool: "", uses: [...state.live.uses, { id, name, arguments: given, result, is_error }] });
}

/** The client is the one at the session's microphone, and no device that anything can be wrong with. */
function changeDevice(state, event) {
  if (event.which === "client") return withSession(state, { client: event.state });
  const fault = ["lost", "hanging", "silent", "slow"].includes(event.state);
  const told = fault ? faultOf(event) : "";
  const next = event.which === "microphone" ? withSession(state, { microphone: event.state }) : state;
  return withLive(next, { fault: told });
}

function faultOf({ which, state, reason, fix }) {
  return [`The ${which} is ${state}.`, reason, fix].filter(Boolean).join(" ");
}

function changeShed(state, event) {
  const { now, times } = state.session.shed ?? { now: [], times: 0 };
  const gone = event.state === "shed";
  const shed = gone
    ? { now: [...now, event.what], times: times + 1 }
    : { now: now.filter((what) => what !== event.what), times };
  return withSession(state, { shed });
}

function end(state, event) {
  const { reason, error } = event;
  const told = { running: false, floor: "idle", reason, ...(error ? { error } : {}) };
  const attention = state.session.attention === undefined ? {} : { attention: "" };
  return { ...withSession(state, { ...told, ...attention }), live: quiet() };
}

function withSession(state, change) {
  return { ...state, session: { ...state.session, ...change } };
}

function withLive(state, change) {
  return { ...state, live: { ...state.live, ...change } };
}

function withTiming(state, timing) {
  return withSession(state, { timings: [...state.session.timings, timing] });
}

/** A line of the transcript that nobody said; `after` so many utterances. */
function withNote(state, text) {
  return { ...state, notes: [...state.notes, { after: state.session.utterances.length, text }] };
}

function without(event, ...names) {
  return Object.fromEntries(Object.entries(event).filter(([name]) => !names.includes(name)));
}
