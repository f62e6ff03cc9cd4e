// What of a turn was never heard.

/** What comes after `heard` in `said`, whose beginning it is but for white space; null if it is not its beginning. */
export function unheardIn(said, heard) {
  const expected = [...heard.replace(/\s+/gu, "")];
  let found = 0;
  let at = 0;
  for (const character of said) {
    if (found === expected.length) return rest(said.slice(at));
    if (!/\s/u.test(character)) {
      if (character !== expected[found]) return null;
      found += 1;
    }
    at += character.length;
  }
  return found === expected.length ? "" : null;
}

function rest(text) {
  return /[\p{L}\p{N}]/u.test(text) ? text.trim() : "";
}

/** Both parts of an agent's turn: the words that were heard, and those that were not. */
export function parts(utterance) {
  const missing = utterance.said ? unheardIn(utterance.said, utterance.text) : "";
  return { heard: utterance.text, unheard: missing ?? "" };
}
