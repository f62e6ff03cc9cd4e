// The page: one session is followed at a time, and all that is shown of it comes from its state.

import { Announcer } from "./announcer.js";
import { ask, sessionPath } from "./api.js";
import { AudioPanel } from "./audio_panel.js";
import { remembered } from "./choices.js";
import { Composer } from "./composer.js";
import { Decisions } from "./decisions.js";
import { Downloads } from "./download.js";
import { byId, setLong, setText, show } from "./element.js";
import { FloorStrip } from "./floor.js";
import { Following } from "./following.js";
import { isFree, isMuted } from "./headline.js";
import { Keys } from "./keys.js";
import { Latency } from "./latency.js";
import { Sessions } from "./sessions.js";
import { TalkButton } from "./talk_button.js";
import { Theme } from "./theme.js";
import { Transcript } from "./transcript.js";

const narrow = window.matchMedia("(max-width: 60rem)"); // as in style.css
let planned = false;

history.scrollRestoration = "manual"; // where the page was scrolled to, another session may be

new Theme();
export const following = new Following(() => planDrawing(), fail);
const sessions = new Sessions({ choose, opened, fail, device: () => panel.device });
const transcript = new Transcript();
const latency = new Latency();
const singleKeys = remembered("single-keys");
const announcesAll = remembered("announce-all");
const decisions = new Decisions();
const announcer = new Announcer();
const downloads = new Downloads({ current: () => following.state.session, recording: () => following.audio?.recording?.wav() ?? null });
const panel = new AudioPanel({
  join,
  use: (device) => following.audio?.use(device),
  record: (on) => following.audio?.record(on),
});
const strip = new FloorStrip((act) => ({ connect: () => join(false), take: () => join(true), unmute: mute, resume: () => following.audio?.resume(), retry: () => following.hurry() })[act]?.());
const composer = new Composer({ send, fail });

byId("interrupt").addEventListener("click", interrupt);
byId("mute").addEventListener("click", mute);
byId("end").addEventListener("click", end);
const key = byId("talk");
const press = (holder) => following.press(holder);
const release = (holder) => following.release(holder);
new TalkButton(key, { press, release });
new Keys({ inForce: singleKeys, hasKey: () => following.hasKey, press, release, interrupt, mute, write: () => composer.focus() });
byId("skip").addEventListener("click", (event) => {
  event.preventDefault(); // the address is that of the session
  byId("said").focus();
});

window.addEventListener("hashchange", () => follow(location.hash.slice(1)));
window.addEventListener("blur", () => following.letGo());
window.addEventListener("pagehide", () => following.goes());
window.addEventListener("pageshow", (event) => event.persisted && follow(location.hash.slice(1)));
window.addEventListener("online", () => following.hurry());
narrow.addEventListener("change", fold);
document.addEventListener("visibilitychange", () => {
  following.seen(!document.hidden);
  if (document.hidden) following.letGo();
  if (!document.hidden) sessions.look();
});

sessions.look();
panel.list();
follow(location.hash.slice(1));

function choose(id) {
  if (location.hash.slice(1) === id) follow(id);
  else location.hash = id;
}

/** `stream`: of the microphone, for a session in this browser. */
function opened(state, stream) {
  if (stream) following.expect(state.id, { device: panel.device, record: byId("record").checked, stream }, () => panel.list());
  choose(state.id);
  byId("said").focus({ preventScroll: true });
}

function follow(id) {
  if (following.id === id && id) return;
  tell("");
  document.body.dataset.session = id ? "one" : "none";
  sessions.current = id;
  composer.begin(id);
  following.follow(id);
  if (narrow.matches) fold();
  window.scrollTo(0, 0); // on a phone the list may be far below the headline
}

/** Where there is little room the list of sessions makes place for the one that is followed. */
function fold() {
  byId("drawer").open = !narrow.matches || !following.id;
}

async function join(take) {
  if (!following.offersAudio) return; // another one is followed since the button was drawn
  await following.join({ device: panel.device, take, record: byId("record").checked });
  await panel.list();
}

async function send(id, text) {
  await ask("POST", sessionPath(id, "/say"), { text });
}

async function attempt(doing, may = following.runs) {
  const { id } = following;
  if (!may) return;
  try {
    await doing();
    if (following.id === id) tell("");
  } catch (error) {
    fail(error, id);
  }
}

function interrupt() {
  attempt(() => ask("POST", sessionPath(following.id, "/interrupt")));
}

function mute() {
  if (!byId("mute").disabled) attempt(() => following.mute(), following.canMute);
}

function end() {
  attempt(async () => {
    await ask("DELETE", sessionPath(following.id));
    sessions.look();
  });
}

/** `id`: of the session that it went wrong in; one that was left meanwhile is not told of beside another. */
function fail(error, id = following.id) {
  if (following.id === id) tell(error.message);
}

function tell(text) {
  setLong(byId("alert"), text);
  show(byId("alert"), text !== "");
}

/** At most once a frame, however many events there are. */
function planDrawing() {
  if (planned) return;
  planned = true;
  const draw = () => {
    if (planned) drawAll();
    planned = false;
  };
  if (document.hidden) setTimeout(draw, 100);
  else requestAnimationFrame(draw);
}

function drawAll() {
  const { state, connection } = following;
  const { audio } = following;
  transcript.draw(state, connection, strip.draw(state, connection, audio).heard);
  sessions.know(state.session);
  latency.draw(state.session?.timings ?? []);
  decisions.draw(state.decisions);
  announcer.draw(state.session, following.sounds, announcesAll());
  downloads.draw(state.session, audio);
  panel.draw(audio, following.offersAudio, isFree(state.session, audio));
  drawControls(state, audio);
}

function drawControls({ session }, audio) {
  const runs = following.runs;
  const muted = isMuted(session, audio);
  composer.draw(runs);
  byId("interrupt").disabled = !runs || !["speaking", "thinking"].includes(session.floor);
  byId("end").disabled = !runs;
  byId("mute").disabled = !following.canMute;
  byId("mute").setAttribute("aria-pressed", String(muted));
  setText(byId("mute"), muted ? "Unmute" : "Mute");
  show(byId("mute"), session?.kind !== "text");
  show(key, following.hasKey);
  key.setAttribute("aria-pressed", String(session?.attention === "pressed"));
}

drawAll();
