/** Colours of maps and their legends. */
import { formatShort, svgElement, svgText, textWidth } from "./text.ts";
import type { HeatMapChart } from "./types.ts";

/**
 * Returns the colour at a place of a scale, 0 … 1: from light to dark, or, for changes, from losses over a neutral 0.5
 * to gains.
 */
export function colourOf(part: number, colours: HeatMapChart["colours"] = "sequential"): string {
  const percent = (share: number): string => `${Math.round(100 * Math.min(Math.max(share, 0), 1))}%`;
  if (colours === "sequential") return `color-mix(in oklab, var(--c-high) ${percent(part)}, var(--c-low))`;
  const distance = 2 * part - 1;
  return `color-mix(in oklab, var(${distance < 0 ? "--c-loss" : "--c-gain"}) ${percent(Math.abs(distance))}, var(--c-none))`;
}

interface LegendPlace {
  readonly x: number;
  readonly y: number;
  readonly width: number;
}

/** Returns the legend of bands of values: their colours, with the values between them. `parts` are their colours. */
export function levelLegend(
  levels: readonly number[],
  parts: readonly number[],
  colours: HeatMapChart["colours"],
  unit: string,
  { x, y, width }: LegendPlace,
): string {
  const texts = levels.map(formatShort);
  const step = Math.min(width / parts.length, 64);
  // As many values as have room.
  const every = Math.max(Math.ceil((Math.max(...texts.map(textWidth), 0) + 8) / step), 1);
  const bands = parts.map((part, i) =>
    svgElement("rect", { x: x + i * step, y, width: step + 0.3, height: 8, style: `fill:${colourOf(part, colours)}` }),
  );
  const numbers = texts.map((text, i) =>
    i % every === 0 ? svgText(text, x + (i + 1) * step, y + 21, { class: "c-tick", "text-anchor": "middle" }) : "",
  );
  return [...bands, ...numbers, svgText(unit, x, y - 6, { class: "c-tick" })].join("");
}
