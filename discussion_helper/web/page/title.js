// What a session is called in a list: the first words that were said in it. The same as title.py of the server.

const LONGEST = 60; // characters
const READ = 100 * LONGEST;
const SPACE = /[\u0000-\u0020\u007f-\u00a0\u2028\u2029\u3000]+/g;
const LONG_WORD = /[!-~]{20,}/g;
const ID_CHARACTERS = 8;

/** One line: the user's first words, else the agent's, else how the id begins. What looks like a key stands as "…". */
export function titleOf(utterances, id) {
  const said = utterances.map(({ speaker, text }) => ({ speaker, words: wordsOf(text) })).filter(({ words }) => words);
  return (said.find(({ speaker }) => speaker === "user") ?? said[0])?.words ?? id.slice(0, ID_CHARACTERS);
}

function wordsOf(text) {
  const line = trimmed(firstOf(text, READ).replace(SPACE, " "));
  return trimmed(firstOf(line.replace(LONG_WORD, shown), LONGEST));
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
