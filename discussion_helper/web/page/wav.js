// A WAV file: two channels, the user left and the agent right.

const HEADER = 44;

/** `left` and `right`: lists of {frame, samples: Int16Array}, in frames since the recording began. */
export function wavOf(left, right, rate) {
  const frames = Math.max(0, ...[...left, ...right].map(({ frame, samples }) => frame + samples.length));
  const view = new DataView(new ArrayBuffer(HEADER + frames * 4));
  header(view, frames, rate);
  write(view, left, 0);
  write(view, right, 2);
  return new Blob([view.buffer], { type: "audio/wav" });
}

function header(view, frames, rate) {
  const text = (at, letters) => [...letters].forEach((letter, offset) => view.setUint8(at + offset, letter.charCodeAt(0)));
  text(0, "RIFF");
  view.setUint32(4, HEADER - 8 + frames * 4, true);
  text(8, "WAVEfmt ");
  view.setUint32(16, 16, true);
  view.setUint16(20, 1, true);
  view.setUint16(22, 2, true);
  view.setUint32(24, rate, true);
  view.setUint32(28, rate * 4, true);
  view.setUint16(32, 4, true);
  view.setUint16(34, 16, true);
  text(36, "data");
  view.setUint32(40, frames * 4, true);
}

function write(view, blocks, offset) {
  for (const { frame, samples } of blocks) {
    samples.forEach((sample, at) => view.setInt16(HEADER + (frame + at) * 4 + offset, sample, true));
  }
}
