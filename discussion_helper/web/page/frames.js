// The binary frames of the audio protocol; see protocol.md beside the server's part of it.

const HEADER_BYTES = 24;
const UP = 1;
const DOWN = 2;
const LAST = 1;

/** A frame up: `sample` is the index of its first sample since the hello, `at` when that was at the microphone. */
export function encoded({ seq, sample, at, samples }) {
  const frame = new ArrayBuffer(HEADER_BYTES + samples.byteLength);
  const view = new DataView(frame);
  view.setUint8(0, UP);
  view.setUint32(4, seq, true);
  view.setBigUint64(8, BigInt(sample), true);
  view.setFloat64(16, at, true);
  new Int16Array(frame, HEADER_BYTES).set(samples);
  return frame;
}

/** A frame down, or null for what is none. */
export function decoded(frame) {
  if (frame.byteLength < HEADER_BYTES || frame.byteLength % 2) return null;
  const view = new DataView(frame);
  if (view.getUint8(0) !== DOWN) return null;
  return {
    last: (view.getUint8(1) & LAST) !== 0,
    seq: view.getUint32(4, true),
    reply: view.getUint32(8, true),
    sample: Number(view.getBigUint64(16, true)),
    samples: new Int16Array(frame.slice(HEADER_BYTES)),
  };
}
