/** Tables of a report as HTML. */
import { escapeXml } from "../charts/index.ts";
import { decimalsFor, formatErrorEstimate, formatFixed } from "../formats/index.ts";

/** The content of a cell: a text, or a number as text, which is aligned on the right; a loss has a colour. */
export type Cell = string | { readonly number: string; readonly isLoss?: boolean };

/** Returns a table with a row of titles. */
export function table(titles: readonly Cell[], rows: readonly (readonly Cell[])[]): string {
  const cell = (tag: "th" | "td", content: Cell): string => {
    if (typeof content === "string") return `<${tag}>${escapeXml(content)}</${tag}>`;
    const kind = content.isLoss === true ? "number bad" : "number";
    return `<${tag} class="${kind}">${escapeXml(content.number)}</${tag}>`;
  };
  const line = (tag: "th" | "td", cells: readonly Cell[]): string =>
    `<tr>${cells.map((content) => cell(tag, content)).join("")}</tr>`;
  return `<div class="scroll" tabindex="0"><table><thead>${line("th", titles)}</thead><tbody>${rows.map((row) => line("td", row)).join("\n")}</tbody></table></div>`;
}

/** Returns a number with eight digits, for a cell. */
export const numberCell = (value: number | null): Cell => ({ number: formatFixed(value, decimalsFor([value], 8)) });

/** Returns rows of labels and numbers. The numbers of a column have the same decimals, seven digits at most. */
export function alignedRows(
  rows: readonly (readonly [labels: readonly Cell[], numbers: readonly (number | null)[]])[],
): Cell[][] {
  const decimals = (rows[0]?.[1] ?? []).map((_, c) =>
    decimalsFor(
      rows.map(([, numbers]) => numbers[c]),
      7,
    ),
  );
  return rows.map(([labels, numbers]) => [
    ...labels,
    ...numbers.map((one, c): Cell => ({ number: formatFixed(one, decimals[c]).replace("-", "−") })),
  ]);
}

/** Returns an error estimate with two digits, as a plain number where that is short. */
export const errorText = (error: number): string =>
  error >= 0.001 && error < 1e6 ? formatFixed(error, decimalsFor([error], 2)) : formatErrorEstimate(error);

/** Returns a profit or a loss with a sign, for a cell. */
export function profitCell(value: number | null, decimals: number = decimalsFor([value], 5)): Cell {
  if (value === null) return { number: "–" };
  const text = formatFixed(value, decimals).replace("-", "−");
  return { number: value > 0 ? `+${text}` : text, isLoss: value < 0 };
}

/** Returns a value rounded to the first digit of its error, with eight digits at most. */
export function roundedTo(value: number, error: number): string {
  const digits = error > 0 ? Math.max(-Math.floor(Math.log10(error)), 0) : 8;
  return formatFixed(value, Math.min(digits, decimalsFor([value], 8)));
}

/** Returns a whole number with separators. */
export const whole = (value: number): string => value.toLocaleString("en-US");

/** Returns a section with a title; nothing if it has no content. */
export function section(title: string, content: string): string {
  return content === "" ? "" : `<section><h2>${escapeXml(title)}</h2>\n${content}\n</section>`;
}

/** Returns a remark below a table. */
export const note = (text: string): string => `<p class="note">${escapeXml(text)}</p>`;
