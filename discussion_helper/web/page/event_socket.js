// A session's events over a WebSocket. A browser has 255 of them to a server; of other connections six, for all tabs together.

const PROTOCOL = "discussion-helper.events.v1";
const OPENS_MS = 5_000; // whatever takes longer does not get through: a proxy may hold it

/**
 * Connects at once. `reader` gives its messages, parsed, one at a time, and null for each piece of one of which more is
 * to come; at their end `code` is what it was closed with, and `reason` why.
 */
export class EventSocket {
  reader;
  code = 0;
  reason = "";
  #pieces = [];
  #socket;
  #messages;
  #over = false;

  constructor(path) {
    const scheme = location.protocol === "https:" ? "wss:" : "ws:";
    this.reader = new ReadableStream({ start: (controller) => (this.#messages = controller) }).getReader();
    this.#socket = new WebSocket(`${scheme}//${location.host}${path}`, PROTOCOL);
    this.#socket.onmessage = ({ data }) => this.#take(data);
  }

  /** Whether it gets through. */
  opens() {
    return new Promise((resolve) => {
      const timer = setTimeout(() => resolve(false), OPENS_MS);
      const told = (opened) => {
        clearTimeout(timer);
        resolve(opened);
      };
      this.#socket.onopen = () => {
        if (this.#over) this.#socket.close();
        told(!this.#over);
      };
      this.#socket.onclose = ({ code, reason = "" }) => {
        this.#end(() => this.#messages.close(), code, reason);
        told(false);
      };
    });
  }

  /** Leave it. One that is not open is closed when it opens: of an earlier end the browser would complain. */
  close() {
    this.#end(() => this.#messages.error(new Error("It was left.")));
    if (this.#socket.readyState === WebSocket.OPEN) this.#socket.close();
  }

  #take(data) {
    if (this.#over) return;
    try {
      this.#messages.enqueue(this.#joined(data));
    } catch {
      this.close(); // it is no server of ours
    }
  }

  /** A piece begins with a sign: "+" for more to come, "." for the last one. */
  #joined(data) {
    if (data[0] !== "+" && data[0] !== ".") return JSON.parse(data);
    this.#pieces.push(data.slice(1));
    return data[0] === "+" ? null : JSON.parse(this.#pieces.splice(0).join(""));
  }

  #end(tell, code = 0, reason = "") {
    if (this.#over) return;
    this.#over = true;
    [this.code, this.reason] = [code, reason];
    tell();
  }
}
