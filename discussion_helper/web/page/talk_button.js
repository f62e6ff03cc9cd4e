// The button that is held to talk.

/** By a finger, by the mouse, or by Enter or Space while it has the focus: `press(holder)` and `release(holder)`. */
export class TalkButton {
  constructor(button, { press, release }) {
    button.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      button.setPointerCapture(event.pointerId);
      press(nameOf(event));
    });
    for (const kind of ["pointerup", "pointercancel", "lostpointercapture"]) {
      button.addEventListener(kind, (event) => release(nameOf(event)));
    }
    button.addEventListener("contextmenu", (event) => event.preventDefault()); // of a long touch
    button.addEventListener("keydown", (event) => holds(event) && !event.repeat && press(event.code));
    document.addEventListener("keyup", (event) => release(event.code)); // the focus may be elsewhere by then
  }
}

function nameOf({ pointerId }) {
  return `pointer ${pointerId}`;
}

function holds({ key, code, ctrlKey, altKey, metaKey }) {
  return (key === "Enter" || code === "Space") && !(ctrlKey || altKey || metaKey);
}
