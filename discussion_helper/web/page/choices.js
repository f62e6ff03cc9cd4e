// Boxes that stay as they were ticked, in this browser.

import { byId } from "./element.js";

/** Remember the box of this id; gives a function that says whether it is ticked. */
export function remembered(id) {
  const box = byId(id);
  const known = read(id);
  if (known !== null) box.checked = known === "true";
  box.addEventListener("change", () => write(id, String(box.checked)));
  return () => box.checked;
}

/** What this browser keeps; null where it keeps nothing. */
export function read(name) {
  try {
    return localStorage.getItem(name);
  } catch {
    return null;
  }
}

/** Keep it, where the browser keeps anything. */
export function write(name, value) {
  try {
    localStorage.setItem(name, value);
  } catch {
    // it is in force all the same, until the page is loaded again
  }
}
