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

/** An open microphone in an AudioContext; `heard(frame)` for each 20 ms, `onset(sample)` where somebody begins. */
export class Microphone {
  #context;
  #node = null;
  #source = null;
  #stream = null;
  #device = "";
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

  /** Ask for it, where no stream of it is `given`. Raises what `opened` raises. */
  async start(device = this.#device, given = null) {
    this.stop();
    this.#device = device;
    const stream = given ?? (await opened(device));
    this.#stream = stream;
    this.#node ??= this.#made();
    this.#source = this.#context.createMediaStreamSource(stream);
    this.#source.connect(this.#node);
    stream.getAudioTracks()[0].onended = () => this.#stream === stream && this.#gone();
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

  /** Close the device itself, so that its light goes out. */
  stop() {
    this.#source?.disconnect();
    for (const track of this.#stream?.getTracks() ?? []) track.stop();
    this.#source = this.#stream = null;
  }

  #made() {
    const node = new AudioWorkletNode(this.#context, "capture", { numberOfOutputs: 0 });
    node.port.postMessage({ connection: this.#connection });
    node.port.onmessage = ({ data }) => this.#told(data);
    return node;
  }

  #told({ connection, ...data }) {
    if (connection !== this.#connection) return;
    if ("onset" in data) this.#onset(data.onset);
    else this.#heard(data);
  }

  #gone() {
    this.stop();
    this.#lost();
  }
}
