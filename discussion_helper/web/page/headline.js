// What stands over a session: who has the floor, or why nobody can be heard, and what helps.

const FLOORS = {
  idle: "Nobody has the floor",
  listening: "Listening",
  thinking: "Thinking",
  speaking: "Speaking",
};
const WRITTEN = { idle: "Closed", listening: "Your turn", thinking: "Thinking", speaking: "Answering" };
const AWAY = { none: "Choose or open a session", connecting: "Connecting", live: "Connecting", lost: "Connection lost", gone: "Gone" };
const CONNECT = { text: "Microphone not connected", act: "connect" };
const TAKE = { text: "Another tab has the microphone", act: "take" };
const PAUSED = { text: "The browser paused the sound", act: "resume" };
const OPENING = { text: "Opening the microphone" };
const CLIENTS = {
  connecting: { text: "Connecting the microphone" },
  lost: { text: AWAY.lost },
  paused: PAUSED,
  owned: TAKE,
  taken: { ...TAKE, text: "Another tab took the microphone" },
  refused: { ...CONNECT, text: "The server refuses the microphone" },
};
const FAULTS = { lost: "Microphone lost", hanging: "Microphone does not answer", silent: "Microphone silent" };
const MUTED = { text: "Muted", act: "unmute" };
const OTHERS = ["owned", "taken"];
const AGENTS = ["thinking", "speaking"];

/** What the button beside the headline says, by what it does. */
export const ACTS = {
  connect: "Connect the microphone",
  take: "Take the microphone",
  unmute: "Unmute",
  resume: "Go on",
  retry: "Try now",
};

/**
 * `{text, act, floor, heard}`: `act` is a key of ACTS or "", `floor` what the light shows, `heard` whether what
 * somebody says now is heard. `audio` null: this page is not the microphone.
 */
export function headlineOf(session, connection, audio) {
  const known = connection.state === "live" || connection.state === "over";
  if (session === null || !known) {
    const act = connection.state === "lost" ? "retry" : "";
    return { text: connection.what || AWAY[connection.state] || AWAY.none, act, floor: "none", heard: false };
  }
  if (!session.running) return { text: connection.what || "Ended", act: "", floor: session.floor, heard: false };
  if (session.kind === "text") return { text: WRITTEN[session.floor] ?? session.floor, act: "", floor: session.floor, heard: false };
  return spoken(session, audio);
}

function spoken(session, audio) {
  const floor = FLOORS[session.floor] ?? session.floor;
  const agents = AGENTS.includes(session.floor);
  const deaf = deafness(session, audio) ?? (agents ? null : waiting(session));
  if (deaf === null) return { text: floor, act: "", floor: session.floor, heard: true };
  const text = agents ? `${floor}. ${deaf.text}` : deaf.text;
  return { text, act: deaf.act ?? "", floor: agents ? session.floor : "none", heard: false };
}

/** Why nobody can be heard; null = somebody can. */
function deafness(session, audio) {
  const away = session.transport === "remote" ? awayFrom(session, audio) : null;
  if (away !== null) return away;
  if (isMuted(session, audio)) return MUTED;
  if (audio?.paused) return PAUSED;
  if (audio?.opening) return OPENING;
  if (audio !== null && !audio.open) return { ...CONNECT, text: audio.refused ? "Microphone not opened" : "Microphone unplugged" };
  if (session.transport === "remote" && session.microphone === "muted") return OPENING; // the server hears nothing yet
  return FAULTS[session.microphone] ? { text: FAULTS[session.microphone] } : null;
}

/** Of a microphone that is a browser's or a program's: this page's, another one's, or none yet. */
function awayFrom(session, audio) {
  if (audio === null) return isOthers(session) ? taking(session, TAKE) : CONNECT;
  if (isFree(session, audio)) return CONNECT;
  return audio.live ? null : taking(session, CLIENTS[audio.state] ?? CONNECT);
}

/** One that has it muted says so: what is said there is not heard either. */
function taking(session, told) {
  const muted = told.act === "take" && session.client === "here" && session.microphone === "muted";
  return muted ? { ...TAKE, text: `${TAKE.text}, muted` } : told;
}

/** Everything works, and what is said now is for nobody all the same. */
function waiting(session) {
  if (session.turn_policy === "push_to_talk" && session.attention !== "pressed") return { text: "Hold to talk" };
  if (session.turn_policy === "wake_word" && session.attention !== "awake") return { text: "Waiting for the wake word" };
  return null;
}

/** Somebody has the microphone, as far as the server tells: whether a client is there, else whether it is open. */
function isOthers({ client, microphone }) {
  return client ? client === "here" : !["", "muted", undefined].includes(microphone);
}

/** Another tab had the microphone when this one asked or lost it, and nobody has it now. */
export function isFree(session, audio) {
  return OTHERS.includes(audio?.state) && session?.client === "away";
}

/** The session's microphone is a browser's or a program's, and this page is not it. */
export function isElsewhere(session, audio) {
  return session.transport === "remote" && audio?.live !== true;
}

/** The microphone of a session in a browser is closed for the server too while no browser is there. */
export function isMuted(session, audio) {
  return audio?.muted === true || (session?.transport === "local" && session.microphone === "muted");
}
