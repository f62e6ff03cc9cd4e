// Elements of the document. What they hold is text: nothing here is ever parsed as HTML.

const LONG = 200; // six lines of the narrowest phone

/** The element of this id. */
export function byId(id) {
  return document.getElementById(id);
}

/** A new element. `on...` properties are listeners, `true` is an empty attribute, what is false or missing is left out. */
export function make(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...children.filter((child) => child !== null && child !== undefined && child !== ""));
  return element;
}

/** Set the text where it is another one, so that nothing is told anew that did not change. */
export function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/** The same for what may be long, and is bounded in its height: the keyboard can scroll it then. */
export function setLong(element, text) {
  setText(element, text);
  if (isLong(text)) element.tabIndex = 0;
  else element.removeAttribute("tabindex");
}

/** Whether a text has so many characters that its end may be out of sight where its height is bounded. */
export function isLong(text) {
  return text.length > LONG;
}

/** Show or hide; a hidden element is out of the reach of keyboard and screen reader too. */
export function show(element, on) {
  element.hidden = !on;
}

/** Seconds as 1:05. */
export function clockTime(seconds) {
  const whole = Math.max(0, Math.floor(seconds));
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, "0")}`;
}

/** A delay as "0.84 s", a short one as "43 ms". */
export function delay(seconds) {
  return seconds < 0.0995 ? `${Math.round(seconds * 1000)} ms` : `${seconds.toFixed(2)} s`;
}
