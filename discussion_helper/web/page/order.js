// The order of turns: a long one that was read late is known after the one that came behind it.

/** For a sort: whatever began earlier comes first, and of two at once the one that was known first. */
export function earlier(one, other) {
  return (one.started_s ?? 0) - (other.started_s ?? 0);
}
