// What to do where nothing was said yet.

import { byId, setText } from "./element.js";

/** Tell it; `heard`: whether what somebody says now is heard. */
export function invite(session, connection, heard) {
  const [what, how] = invitation(session, connection, heard);
  setText(byId("empty-what"), what);
  setText(byId("empty-how"), how);
}

/** What is so, and what can be done: nothing that this page cannot do at this moment. */
function invitation(session, { state }, heard) {
  if (state === "gone") return ["Nothing is shown here.", "What helps stands above."];
  if (state === "lost") return ["Nothing was said, as far as this page knows.", "It tries again by itself."];
  if (session === null) return unknown(state);
  if (!session.running) return ["Nothing was said.", "Open another session to talk or to write."];
  if (session.kind === "text") return ["Write a message", "It is answered here."];
  if (heard) return ["Say something", session.thread_id ? "or write a message. The agent remembers what was kept." : "or write a message."];
  return ["Nothing was said yet.", "Nobody is heard at this moment; what you write is answered."];
}

function unknown(state) {
  if (state === "connecting") return ["One moment", "The server is asked what was said."];
  return ["Nothing was said yet.", "Open a session to talk or to write, or choose one to follow it."];
}
