/** The columns of the results table: their names and units, and which of them are shown. */
import { signal } from "@preact/signals";
import type { SortKey } from "./rows.ts";

export interface Column {
  readonly key: SortKey;
  readonly title: string;
  readonly unit: string;
  readonly about: string;
  /** The least width, in rem. Texts take what is left. */
  readonly width: number;
  readonly isText?: boolean;
  /** What a number is multiplied by to be shown in the column's unit. */
  readonly scale?: number;
  /** Shown unless the visitor chooses otherwise. */
  readonly isUsual?: boolean;
}

const usual = { isUsual: true };
const text = { unit: "", isText: true };

const COLUMNS: readonly Column[] = [
  { key: "id", title: "Trade", about: "the trade's name", width: 6.4, ...text, ...usual },
  { key: "product", title: "Product", about: "what is bought or sold", width: 7, ...text, ...usual },
  { key: "underlying", title: "Underlying", about: "what it is written on", width: 5.5, ...text, ...usual },
  { key: "expiry", title: "Expiry", unit: "years", about: "from the day of valuation", width: 3.4, ...usual },
  { key: "quantity", title: "Quantity", unit: "units", about: "negative when sold", width: 4.8, ...usual },
  {
    key: "value",
    title: "Value",
    unit: "of one, ± error",
    about: "of one unit, in the currency, with its error estimate",
    width: 8.7,
    ...usual,
  },
  { key: "position", title: "Position", unit: "× quantity", about: "value × quantity", width: 5.4, ...usual },
  { key: "currency", title: "", about: "currency", width: 2.7, ...text, ...usual },
  { key: "delta", title: "Delta", unit: "per 1", about: "∂V/∂S, per 1 of spot", width: 4.6, ...usual },
  { key: "gamma", title: "Gamma", unit: "per 1²", about: "∂²V/∂S², per 1 of spot²", width: 4.9, ...usual },
  { key: "vega", title: "Vega", unit: "a point", about: POINT("∂V/∂σ, volatility"), scale: 0.01, width: 4.3, ...usual },
  { key: "theta", title: "Theta", unit: "a year", about: "∂V/∂t", width: 4.6, ...usual },
  { key: "rho", title: "Rho", unit: "a point", about: POINT("∂V/∂r, rates"), scale: 0.01, width: 4.7, ...usual },
  { key: "errorEstimate", title: "Error", unit: "estimated", about: "of one unit", width: 5.4 },
  { key: "method", title: "Method", about: "how it was priced", width: 4.2, ...text, ...usual },
  { key: "tags", title: "Tags", about: "labels that the book gives", width: 8, ...text },
  { key: "note", title: "Note", about: "warnings, or why there is no price", width: 12, ...text },
];

function POINT(what: string): string {
  return `${what} by a point (0.01); files have it per 1.00`;
}

const STORED = "columns";

/** Columns that the visitor has shown or hidden, against what is usual. */
export const chosen = signal<Readonly<Record<string, boolean>>>(
  JSON.parse(localStorage.getItem(STORED) ?? "{}") as Readonly<Record<string, boolean>>,
);

/** Every column that a book with these tags may have. */
export function columnsOf(tags: readonly string[]): readonly Column[] {
  const own = tags.map((name): Column => ({ key: `tag:${name}`, title: name, about: "a tag", width: 5.5, ...text }));
  return [...COLUMNS, ...own];
}

export function isShown({ key, isUsual = false }: Column): boolean {
  return key === "id" || (chosen.value[key] ?? isUsual);
}

export function showColumn({ key }: Column, isWanted: boolean): void {
  chosen.value = { ...chosen.value, [key]: isWanted };
  localStorage.setItem(STORED, JSON.stringify(chosen.value));
}
