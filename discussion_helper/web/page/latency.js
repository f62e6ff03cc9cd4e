// How long the user waited for the first word, stage by stage, and how that went turn by turn.

import { byId, delay, make, setText } from "./element.js";

const STAGES = [
  ["endpoint_s", "Turn end"],
  ["recognise_s", "Words"],
  ["think_s", "Answer"],
  ["speak_s", "Voice"],
];
const ROWS = 50;
const BARS = 40;
const SVG = "http://www.w3.org/2000/svg";

/** Draws the newest timing as a bar, all of them as a table and as a small plot. */
export class Latency {
  #drawn = null;

  /** A turn whose reply had no sound, as one that was cut before it, is none that a delay is known of. */
  draw(all) {
    if (all === this.#drawn) return;
    this.#drawn = all;
    const timings = all.filter((timing) => Number.isFinite(timing.to_first_audio_s));
    this.#now(timings);
    const newest = timings.map((timing, at) => [at + 1, timing]).slice(-ROWS).reverse();
    byId("latency-rows").replaceChildren(...newest.map(([number, timing]) => row(number, timing)));
    this.#plot(timings.slice(-BARS));
  }

  #now(timings) {
    const last = timings.at(-1);
    const text = last ? `${delay(last.to_first_audio_s)}${timings.length > 1 ? `, usually ${delay(median(timings))}` : ""}` : "No turn was answered yet";
    setText(byId("latency-now"), text);
    const longest = Math.max(0.001, last?.to_first_audio_s ?? 0);
    byId("latency-bar").replaceChildren(
      ...(last ? STAGES.map(([stage]) => segment(stage, Math.max(0, last[stage]) / longest)) : []),
    );
    byId("latency-key").replaceChildren(...(last ? STAGES.map(([stage, name]) => entry(stage, name, last[stage])) : []));
  }

  #plot(timings) {
    const longest = Math.max(0.5, ...timings.map((timing) => timing.to_first_audio_s));
    const svg = byId("latency-history");
    svg.setAttribute("viewBox", `0 0 ${BARS * 6} 60`);
    svg.replaceChildren(...timings.flatMap((timing, at) => column(timing, at * 6, longest)));
  }
}

function segment(stage, share) {
  const bar = make("span", { class: stage });
  bar.style.setProperty("flex-grow", share.toFixed(4));
  return bar;
}

function entry(stage, name, seconds) {
  return make("li", {}, make("span", { class: `dot ${stage}`, "aria-hidden": "true" }), `${name} ${delay(seconds)}`);
}

function row(number, timing) {
  const cells = STAGES.map(([stage]) => make("td", {}, timing[stage].toFixed(2)));
  const mark = timing.ahead ? make("abbr", { title: "The reply was begun in the silence" }, "*") : null;
  return make("tr", {}, make("th", { scope: "row" }, String(number), mark), ...cells, make("td", {}, timing.to_first_audio_s.toFixed(2)));
}

function column(timing, x, longest) {
  let top = 60;
  return STAGES.map(([stage]) => {
    const height = (Math.max(0, timing[stage]) / longest) * 60;
    top -= height;
    const bar = document.createElementNS(SVG, "rect");
    for (const [name, value] of Object.entries({ x, y: top, width: 5, height, class: stage })) bar.setAttribute(name, value);
    return bar;
  });
}

function median(timings) {
  const sorted = timings.map((timing) => timing.to_first_audio_s).sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  return sorted.length % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}
