// In the audio thread: plays replies out of a jitter buffer, and tells how far each was played.

const LEAD_S = 0.06; // what there must be before a reply begins, or goes on after it ran dry
const PATIENCE_S = 0.12; // after so long it begins with what there is
const FADE_S = 0.01;
const TOLD_S = 0.02;

/** What there is of one reply, from the next sample to be played. */
class Reply {
  constructor(number) {
    this.number = number;
    this.played = 0;
    this.chunks = [];
    this.last = false;
    this.waited = 0;
    this.runs = false;
    this.told = "";
  }

  /** Samples that can be played without a hole. */
  get ready() {
    return this.chunks.reduce((sum, chunk) => sum + chunk.length, 0);
  }

  add(sample, samples, last) {
    const end = this.played + this.ready;
    if (sample > end && this.chunks.length === 0 && this.played === 0) this.played = sample; // goes on after a break
    const known = Math.max(0, this.played + this.ready - sample);
    if (known < samples.length) this.chunks.push(samples.subarray(known));
    else if (known > samples.length) return; // sent before, and more since
    this.last = last;
  }

  next() {
    const chunk = this.chunks[0];
    const sample = chunk[0];
    if (chunk.length === 1) this.chunks.shift();
    else this.chunks[0] = chunk.subarray(1);
    this.played += 1;
    return sample / 32768;
  }
}

class Player extends AudioWorkletProcessor {
  #replies = [];
  #gain = 0;
  #target = 1;
  #step = 1 / (FADE_S * sampleRate);
  #paused = false;
  #stopping = false;
  #dead = -1;
  #latest = { number: -1, played: 0 };
  #untold = 0;
  #records = false;
  #connection = 0;

  constructor() {
    super();
    this.port.onmessage = ({ data }) => this.#obey(data);
  }

  #obey({ type, reply, ramp_s = FADE_S, ...more }) {
    if (type === "audio") this.#add(reply, more);
    if (type === "pause") this.#ramp(0, ramp_s, true);
    if (type === "resume") this.#ramp(more.gain ?? 1, ramp_s, false);
    if (type === "gain") this.#ramp(more.gain, ramp_s, this.#paused);
    if (type === "stop") this.#stop(reply);
    if (type === "reset") this.#reset(more.connection);
    if (type === "record") this.#records = more.on;
  }

  /** A new connection begins with nothing; the numbers of its replies may begin anew. */
  #reset(connection) {
    this.#connection = connection;
    this.#replies = [];
    this.#dead = -1;
    this.#stopping = false;
    this.#gain = 0;
    this.#ramp(1, FADE_S, false);
  }

  #add(number, { sample, samples, last }) {
    if (number <= this.#dead) return;
    let reply = this.#replies.find((one) => one.number === number);
    if (reply === undefined) {
      reply = new Reply(number);
      this.#replies.push(reply);
      if (this.#replies.length === 1) this.#ramp(1, FADE_S, false);
    }
    reply.add(sample, samples, last);
  }

  #ramp(target, seconds, paused) {
    this.#target = this.#stopping ? 0 : target;
    this.#paused = paused;
    this.#step = 1 / (Math.max(0.001, seconds) * sampleRate);
  }

  #stop(number) {
    this.#dead = Math.max(this.#dead, number);
    if (!this.#replies.some((one) => one.number <= this.#dead)) {
      const sample = this.#latest.number === number ? this.#latest.played : 0;
      this.#post(number, sample, "stopped");
      return;
    }
    this.#ramp(0, FADE_S, false);
    this.#stopping = true;
  }

  process(_, [[output]]) {
    for (let at = 0; at < output.length; at += 1) output[at] = this.#sample();
    this.#untold += output.length;
    if (this.#untold >= TOLD_S * sampleRate) this.#tellPlace();
    if (this.#records && this.#replies.length > 0) {
      const samples = Int16Array.from(output, (value) => Math.round(value * 32767));
      this.port.postMessage({ recorded: { frame: currentFrame, samples } }, [samples.buffer]);
    }
    return true;
  }

  #sample() {
    const reply = this.#replies[0];
    if (reply === undefined || !this.#goesOn(reply)) return 0;
    const target = this.#isRunningDry(reply) ? 0 : this.#target;
    this.#gain += Math.max(-this.#step, Math.min(this.#step, target - this.#gain));
    const silent = this.#gain < 1e-4 && target === 0;
    if (this.#stopping && silent) return this.#end();
    if (this.#paused && silent) return this.#hold(reply);
    const value = reply.next() * this.#gain;
    if (reply.chunks.length === 0) this.#ranOut(reply);
    return value;
  }

  /** Whether there is a sample to play now; a reply that begins waits until it has a lead. */
  #goesOn(reply) {
    if (reply.runs) return true;
    if (this.#stopping) {
      this.#end();
      return false;
    }
    if (this.#paused) {
      this.#hold(reply);
      return false;
    }
    reply.waited += 1;
    if (reply.waited % 128 !== 0) return false;
    const ready = reply.ready;
    reply.runs = ready > 0 && (reply.last || ready >= LEAD_S * sampleRate || reply.waited >= PATIENCE_S * sampleRate);
    if (!reply.runs && reply.last && ready === 0) this.#ranOut(reply);
    return reply.runs;
  }

  #isRunningDry(reply) {
    return !reply.last && reply.chunks.length === 1 && reply.chunks[0].length < FADE_S * sampleRate;
  }

  #hold(reply) {
    if (reply.told !== "paused") this.#tell(reply, "paused");
    return 0;
  }

  #ranOut(reply) {
    reply.runs = false;
    reply.waited = 0;
    if (!reply.last) return;
    if (reply.told !== "done") this.#tell(reply, "done");
    // It may go on later: it makes room for the next one only when that is there.
    if (this.#replies.length > 1) this.#replies.shift();
  }

  /** What is dead goes, each told as far as it was heard; what comes behind it begins. */
  #end() {
    for (const reply of this.#replies.filter((one) => one.number <= this.#dead)) this.#tell(reply, "stopped");
    this.#replies = this.#replies.filter((one) => one.number > this.#dead);
    this.#stopping = false;
    this.#gain = 0;
    this.#ramp(1, FADE_S, false);
    return 0;
  }

  #tellPlace() {
    this.#untold = 0;
    const [reply] = this.#replies;
    if (reply?.runs && !this.#paused) this.#tell(reply, "playing");
  }

  #tell(reply, state) {
    reply.told = state;
    this.#latest = { number: reply.number, played: reply.played };
    this.#post(reply.number, reply.played, state);
  }

  #post(reply, sample, state) {
    this.port.postMessage({ reply, sample, at: currentTime, state, connection: this.#connection });
  }
}

registerProcessor("player", Player);
