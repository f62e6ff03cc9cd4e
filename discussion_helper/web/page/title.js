// What a session is called in a list: the first words that were said in it. The same as title.py of the server.

const LONGEST = 60; // characters
const READ = 100 * LONGEST;
const SPACE = /[\u0000-\u0020\u007f-\u00a0\u115f\u1160\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u2800\u3000\u3164\uffa0]+/g;
// What has no shape and parts no letters; some of it turns the rest of a line round.
const UNSEEN = /[\u00ad\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff0-\ufffb]/g;
// What has no shape of its own: it belongs to the letters and pictures beside it.
const BLANK = /^[ \u034f\u17b4\u17b5\u180b-\u180f\u200c\u200d\ufe00-\ufe0f\u{e0000}-\u{e0fff}]*$/u;
const LONG_WORD = /[!-~]{20,}/g;
const LAST_WORD = /(^|[^!-~])[!-~]{1,59}$/; // shorter than LONGEST
const ID_CHARACTERS = 8;

/** One line: the user's first words, else the agent's, else how the id begins. What looks like a key stands as "…". */
export function titleOf(utterances, id) {
  const said = utterances.map(({ speaker, text }) => ({ speaker, words: wordsOf(text) })).filter(({ words }) => words);
  return (said.find(({ speaker }) => speaker === "user") ?? said[0])?.words ?? id.slice(0, ID_CHARACTERS);
}

function wordsOf(text) {
  const read = firstOf(text, READ);
  const line = read.replace(UNSEEN, "").replace(SPACE, " ");
  const known = read.length < text.length ? line.replace(LAST_WORD, "$1…") : line; // how it goes on is not looked at
  const words = trimmed(firstOf(trimmed(known).replace(LONG_WORD, shown), LONGEST));
  return BLANK.test(words) ? "" : words;
}

function shown(word) {
  return /[0-9]/.test(word) && /[A-Za-z]/.test(word) ? "…" : word;
}

/** Whole characters, as Python counts them. */
function firstOf(text, count) {
  return text.length <= count ? text : Array.from(text).slice(0, count).join("");
}

function trimmed(text) {
  return text.replace(/^ | $/g, "");
}
