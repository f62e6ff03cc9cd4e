// Server-sent events out of the bytes of a response.

/** Give it what comes; it gives back the events that are whole, as {id, data}. Comments and `retry` are left out. */
export class SseParser {
  #decoder = new TextDecoder();
  #rest = "";
  #id = "";
  #data = [];

  feed(bytes) {
    const lines = (this.#rest + this.#decoder.decode(bytes, { stream: true })).split("\n");
    this.#rest = lines.pop();
    return lines.flatMap((line) => this.#line(line.replace(/\r$/, "")));
  }

  /** Nothing was begun of which more is to come. */
  get isWhole() {
    return this.#rest === "" && this.#id === "" && this.#data.length === 0;
  }

  #line(line) {
    if (line === "") return this.#whole();
    const at = line.indexOf(":");
    const [name, value] = at < 0 ? [line, ""] : [line.slice(0, at), line.slice(at + 1).replace(/^ /, "")];
    if (name === "id") this.#id = value;
    if (name === "data") this.#data.push(value);
    return [];
  }

  #whole() {
    const [id, data] = [this.#id, this.#data];
    this.#id = "";
    this.#data = [];
    return data.length ? [{ id, data: JSON.parse(data.join("\n")) }] : [];
  }
}
