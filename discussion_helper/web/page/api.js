// Requests to the server that this page came from.

const LINK = "open the newest link that the server printed";

/** What the server refused, with its own words and the fix. `status` 0: it did not answer at all. */
export class Refused extends Error {
  constructor(status, what, fix) {
    super([what, fix].filter(Boolean).join(" "));
    this.status = status;
  }
}

/** The answer's JSON. With `keepalive` the request outlives the page. Raises Refused. */
export async function ask(method, path, body, { keepalive = false } = {}) {
  const options = { method, headers: { Accept: "application/json" }, cache: "no-store", keepalive };
  if (body !== undefined) {
    options.headers["Content-Type"] = "application/json";
    options.body = JSON.stringify(body);
  }
  let answer;
  try {
    answer = await fetch(path, options);
  } catch {
    throw new Refused(0, "The server does not answer.", "Look whether it runs.");
  }
  if (answer.status === 204) return null;
  const content = await answer.json().catch(() => null);
  if (!answer.ok) throw refusalOf(answer.status, content, answer.status === 401 ? await wayIn() : "");
  return content;
}

function refusalOf(status, content, way) {
  if (status === 401) return new Refused(401, "This browser is not let in any more.", way);
  return new Refused(status, content?.error ?? `The server answered ${status}.`, content?.fix ?? "");
}

/** What to do where this browser is not let in any more: an older link is dead, and a form is there with a password alone. */
export async function wayIn() {
  const isForm = await fetch("/login", { method: "HEAD", cache: "no-store" }).then(({ ok }) => ok, () => false);
  return isForm ? `Log in at /login, or ${LINK}.` : `${LINK[0].toUpperCase()}${LINK.slice(1)}.`;
}

/** Whether a session may have this id; ".." and "a/b" would lead to something else of the server. */
export function isId(id) {
  return /^[A-Za-z0-9_-]{8,64}$/.test(id);
}

/** The address of a session, or of something of it. Raises Refused for what is no id. */
export function sessionPath(id, rest = "") {
  if (!isId(id)) throw new Refused(404, "There is no session of that id.", "Choose one of the list.");
  return `/sessions/${id}${rest}`;
}
