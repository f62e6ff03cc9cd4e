// The microphone of this browser, with the browser's own echo canceller.

const WANTED = { echoCancellation: true, noiseSuppression: true, autoGainControl: true, channelCount: 1 };

/** The microphones that there are, as {id, label}; their names are told only to who may use one. */
export async function microphones() {
  const devices = (await navigator.mediaDevices?.enumerateDevices()) ?? [];
  const inputs = devices.filter((device) => device.kind === "audioinput" && device.deviceId);
  return inputs.map((device, at) => ({ id: device.deviceId, label: device.label || `Microphone ${at + 1}` }));
}

/** Why there is no microphone, in words for a person. */
export function reasonOf(error) {
  const reasons = {
    NotAllowedError: "The browser may not use the microphone. Allow it in the address bar, then connect again.",
    NotFoundError: "There is no microphone. Plug one in, then connect again.",
    NotReadableError: "Another program holds the microphone. Close it, then connect again.",
    OverconstrainedError: "That microphone is not there any more. Choose another one, then connect again.",
  };
  if (!window.isSecureContext) return "Browsers give a microphone only to https, and to http on their own machine. Open this page under https.";
  if (navigator.mediaDevices?.getUserMedia === undefined) return "This browser gives no page a microphone. Use another browser.";
  return reasons[error.name] ?? `The microphone cannot be opened: ${error.message}.`;
}

/** A stream of this microphone, "" = the system's usual one. Raises what getUserMedia raises. */
export function opened(device) {
  const audio = device ? { ...WANTED, deviceId: { exact: device } } : WANTED;
  return navigator.mediaDevices.getUserMedia({ audio });
}

/** Close a device, so that its light goes out; null is none. */
export function closeStream(stream) {
  for (const track of stream?.getTracks() ?? []) track.stop();
}

/** A microphone in an AudioContext; while it is open `heard(frame)` for each 20 ms, `onset(sample)` where somebody begins. */
export class Microphone {
  #context;
  #node = null;
  #source = null;
  #stream = null;
  #wish = null; // the newest one, while the browser has not answered
  #connection = 0;
  #heard;
  #onset;
  #lost;

  constructor(context, { heard, onset, lost }) {
    this.#context = context;
    this.#heard = heard;
    this.#onset = onset;
    this.#lost = lost;
  }

  get open() {
    return this.#stream !== null;
  }

  /** It was asked for, and is not there yet. */
  get opening() {
    return this.#wish !== null;
  }

  /**
   * Ask for it, where no stream of it is `given`. Of several calls only the newest counts, and none that was taken back
   * with `stop`: a device that is open only then is closed again. Raises what `opened` raises, for the newest call alone.
   */
  async start(device = "", given = null) {
    this.stop();
    const wish = (this.#wish = {});
    try {
      const stream = given ?? (await opened(device));
      if (this.#wish === wish) this.#take(stream);
      else closeStream(stream);
    } catch (error) {
      if (this.#wish === wish) throw error;
    } finally {
      if (this.#wish === wish) this.#wish = null;
    }
  }

  /** Count samples from here: a hello was answered. What is under way from before belongs to no connection. */
  restart() {
    this.#connection += 1;
    this.#node?.port.postMessage({ connection: this.#connection });
  }

  /** Whether the agent is heard at this moment: then only who is louder than its echo may be begins to speak. */
  beside(agent) {
    this.#node?.port.postMessage({ agent });
  }

  /** Close the device itself, or let it be closed as soon as it is open. */
  stop() {
    this.#wish = null;
    this.#source?.disconnect();
    closeStream(this.#stream);
    this.#source = this.#stream = null;
  }

  #take(stream) {
    this.#stream = stream;
    try {
      this.#node ??= this.#made();
      this.#source = this.#context.createMediaStreamSource(stream);
      this.#source.connect(this.#node);
    } catch (error) {
      closeStream(stream);
      this.#source = this.#stream = null;
      throw error;
    }
    const [track] = stream.getAudioTracks();
    track.onended = () => this.#stream === stream && this.#gone();
    if (track.readyState === "ended") this.#gone(); // unplugged before somebody looked
  }

  #made() {
    const node = new AudioWorkletNode(this.#context, "capture", { numberOfOutputs: 0 });
    node.port.postMessage({ connection: this.#connection });
    node.port.onmessage = ({ data }) => this.#told(data);
    return node;
  }

  #told({ connection, ...data }) {
    if (connection !== this.#connection || !this.open) return; // what was under way when it was closed is nobody's
    if ("onset" in data) this.#onset(data.onset);
    else this.#heard(data);
  }

  #gone() {
    this.stop();
    this.#lost();
  }
}
