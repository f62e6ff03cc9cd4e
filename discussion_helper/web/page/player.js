// The loudspeaker of this browser.

/** Gives frames and commands to the audio thread; `told(played)` for each place and each change of state. */
export class Player {
  #context;
  #node;
  #connection = 0;
  #told;
  #recorded;

  constructor(context, { told, recorded }) {
    this.#context = context;
    this.#told = told;
    this.#recorded = recorded;
    this.#node = new AudioWorkletNode(context, "player", { numberOfInputs: 0, outputChannelCount: [1] });
    this.#node.connect(context.destination);
    this.#node.port.onmessage = ({ data }) => this.#take(data);
  }

  /** Sound of a reply. */
  play({ reply, sample, samples, last }) {
    this.#node.port.postMessage({ type: "audio", reply, sample, samples, last }, [samples.buffer]);
  }

  /** "pause", "resume", "gain" or "stop", as they come over the socket. */
  obey(message) {
    this.#node.port.postMessage(message);
  }

  /** Forget everything: a new connection begins with nothing, and what the old one's replies still tell is not its own. */
  reset() {
    this.#connection += 1;
    this.obey({ type: "reset", connection: this.#connection });
  }

  /** Give back what is played from here on. */
  record(on) {
    this.obey({ type: "record", on });
  }

  /** Tell nothing any more. */
  close() {
    this.#node.port.onmessage = null;
  }

  #take({ connection, recorded, ...played }) {
    if (recorded) this.#recorded(recorded);
    else if (connection === this.#connection) this.#told(this.#late(played));
  }

  /** What leaves the audio thread is heard a little later. */
  #late(played) {
    return { type: "played", ...played, at: played.at + (this.#context.outputLatency || this.#context.baseLatency || 0) };
  }
}
