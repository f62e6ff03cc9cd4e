// In the audio thread: the microphone as frames of 20 ms with the index of their first sample, and who begins to speak.

const FRAME_S = 0.02;
const BLOCK_S = 0.01;
const ONSET_DB = 12; // above the noise
const QUIETEST_DBFS = -50;
const BESIDE_VOICE_DB = 8; // more while the agent is heard, of whom an echo canceller leaves something
const ONSET_BLOCKS = 4;
const QUIET_BLOCKS = 30;

/** Energy of blocks of 10 ms against the noise between them, which is learned fast downwards and slowly upwards. */
class Onset {
  #noise = -60;
  #loud = 0;
  #quiet = QUIET_BLOCKS;

  /** Whether somebody begins with this block: the fourth loud one after 0.3 s without any. */
  hears(dbfs, besideVoice) {
    const loud = dbfs > Math.max(this.#noise + ONSET_DB, QUIETEST_DBFS) + (besideVoice ? BESIDE_VOICE_DB : 0);
    this.#noise = Math.max(-90, dbfs < this.#noise ? this.#noise + 0.3 * (dbfs - this.#noise) : this.#noise + 0.03);
    if (!loud) {
      this.#quiet += 1;
      this.#loud = 0;
      return false;
    }
    this.#loud += 1;
    const begins = this.#loud === ONSET_BLOCKS && this.#quiet >= QUIET_BLOCKS;
    if (this.#loud >= ONSET_BLOCKS) this.#quiet = 0;
    return begins;
  }
}

class Capture extends AudioWorkletProcessor {
  #frame = new Int16Array(Math.round(sampleRate * FRAME_S));
  #filled = 0;
  #first = 0;
  #next = 0; // where the next frame begins at the earliest: a browser that is late may render one place twice
  #base = null;
  #onset = new Onset();
  #energy = 0;
  #counted = 0;
  #loudest = 0;
  #agent = false;
  #connection = 0;

  constructor() {
    super();
    this.port.onmessage = ({ data }) => {
      if ("agent" in data) this.#agent = data.agent;
      if ("connection" in data) this.#restart(data.connection);
    };
  }

  /** A hello was answered: samples count anew, and what is told from here on carries the connection's number. */
  #restart(connection) {
    this.#connection = connection;
    this.#base = null;
    this.#filled = this.#next = 0;
  }

  #tell(message, transfer) {
    this.port.postMessage({ connection: this.#connection, ...message }, transfer);
  }

  process([[samples]]) {
    if (samples === undefined) {
      this.#filled = 0; // the microphone is closed: what was begun has no end
      return true;
    }
    this.#base ??= currentFrame;
    for (let at = 0; at < samples.length; at += 1) this.#take(samples[at], currentFrame + at);
    return true;
  }

  #take(sample, frame) {
    if (this.#filled === 0) this.#first = Math.max(frame, this.#next);
    const bounded = Math.max(-1, Math.min(1, sample));
    this.#frame[this.#filled] = Math.round(bounded * 32767);
    this.#filled += 1;
    this.#measure(bounded, frame);
    if (this.#filled === this.#frame.length) this.#send();
  }

  #measure(sample, frame) {
    this.#energy += sample * sample;
    this.#counted += 1;
    if (this.#counted < sampleRate * BLOCK_S) return;
    const mean = this.#energy / this.#counted;
    this.#loudest = Math.max(this.#loudest, mean);
    if (this.#onset.hears(10 * Math.log10(mean + 1e-10), this.#agent)) this.#tell({ onset: frame - this.#base });
    this.#energy = this.#counted = 0;
  }

  #send() {
    const samples = this.#frame.slice();
    const dbfs = 10 * Math.log10(this.#loudest + 1e-10);
    const message = { sample: this.#first - this.#base, frame: this.#first, at: this.#first / sampleRate, samples, dbfs };
    this.#next = this.#first + samples.length;
    this.#tell(message, [samples.buffer]);
    this.#filled = this.#loudest = 0;
  }
}

registerProcessor("capture", Capture);
