/** The rows of the results table, by columns, and which of them are shown in which order. */
import { RESULT_NUMBERS } from "../../src/book/index.ts";
import { NUMBERS, type NumberName, type RowBlock, TEXTS, type TextName } from "../engine/protocol.ts";

export const STATUS = { priced: 0, warned: 1, failed: 2, pending: 3 } as const;

/** All rows of a book: row i is trade i. Blocks of results fill it as they come. */
export class Rows {
  readonly length: number;
  readonly status: Uint8Array;
  /** 1 where a row shows what was computed before an edit. */
  readonly stale: Uint8Array;
  readonly #numbers: Readonly<Record<NumberName, Float64Array>>;
  readonly #texts: Readonly<Record<TextName, string[]>>;
  readonly #tags = new Set<string>();

  constructor(length: number) {
    this.length = length;
    this.status = new Uint8Array(length).fill(STATUS.pending);
    this.stale = new Uint8Array(length);
    this.#numbers = Object.fromEntries(
      NUMBERS.map((name) => [name, new Float64Array(length).fill(Number.NaN)]),
    ) as Record<NumberName, Float64Array>;
    this.#texts = Object.fromEntries(TEXTS.map((name) => [name, new Array<string>(length).fill("")])) as Record<
      TextName,
      string[]
    >;
  }

  number(name: NumberName, row: number): number {
    return this.#numbers[name][row];
  }

  text(name: TextName | TagKey, row: number): string {
    if (!isTag(name)) return this.#texts[name][row];
    const line = this.#texts.tags[row].split("\n").find((one) => one.startsWith(`${name.slice(TAG)}: `));
    return line?.slice(name.length - TAG + 2) ?? "";
  }

  /** The names of all tags, as far as rows have come. */
  get tags(): readonly string[] {
    return [...this.#tags];
  }

  column(name: NumberName): Float64Array {
    return this.#numbers[name];
  }

  put({ places, numbers, texts, status }: RowBlock): void {
    for (let i = 0; i < places.length; i++) {
      const row = places[i];
      this.status[row] = status[i];
      this.stale[row] = 0;
      for (let k = 0; k < NUMBERS.length; k++) this.#numbers[NUMBERS[k]][row] = numbers[i * NUMBERS.length + k];
      for (const name of TEXTS) this.#texts[name][row] = texts[name][i];
      if (texts.tags[i] === "") continue;
      for (const line of texts.tags[i].split("\n")) this.#tags.add(line.slice(0, line.indexOf(": ")));
    }
  }

  /** Marks the rows whose results are those of before an edit. */
  setStale(places: Int32Array): void {
    for (const place of places) this.stale[place] = 1;
  }

  /** A copy with an empty row at a place. */
  withRow(place: number): Rows {
    return this.#copied(this.length + 1, (row) => (row < place ? row : row + 1));
  }

  /** A copy without the row at a place. */
  withoutRow(place: number): Rows {
    return this.#copied(this.length - 1, (row) => (row === place ? -1 : row < place ? row : row - 1));
  }

  #copied(length: number, placeOf: (row: number) => number): Rows {
    const copy = new Rows(length);
    for (const tag of this.#tags) copy.#tags.add(tag);
    for (let row = 0; row < this.length; row++) {
      const to = placeOf(row);
      if (to < 0) continue;
      copy.status[to] = this.status[row];
      copy.stale[to] = this.stale[row];
      for (const name of NUMBERS) copy.#numbers[name][to] = this.#numbers[name][row];
      for (const name of TEXTS) copy.#texts[name][to] = this.#texts[name][row];
    }
    return copy;
  }
}

type TagKey = `tag:${string}`;
export type SortKey = NumberName | TextName | TagKey | "place" | "position";
export type GroupKey = "none" | "underlying" | "currency" | "product" | "method" | TagKey;

export interface View {
  readonly filter: string;
  readonly only: "all" | "warned" | "failed";
  readonly sort: SortKey;
  readonly descending: boolean;
  readonly group: GroupKey;
  /** Groups whose rows are hidden. */
  readonly closed: ReadonlySet<string>;
}

/** A line of the table: a trade, the head of a group with its sums, or those of one of a group's currencies. */
export type Line =
  | { readonly kind: "row"; readonly row: number }
  | { readonly kind: "group"; readonly name: string; readonly count: number; readonly sums: GroupSums | undefined }
  | { readonly kind: "currency"; readonly name: string; readonly count: number; readonly sums: GroupSums };

/**
 * Sums of quantity × result over a group's rows of one currency; NaN where a part is not known, and where there is no
 * sum: deltas, gammas and vegas of different underlyings.
 */
export interface GroupSums {
  readonly currency: string;
  readonly count: number;
  readonly sums: Readonly<Record<(typeof RESULT_NUMBERS)[number], number>>;
  /** How many underlyings the rows have; those on several count as one of their own. */
  readonly underlyings: number;
}

const OF_ONE_UNDERLYING = ["delta", "gamma", "vega"] as const;

export function linesOf(rows: Rows, view: View): Line[] {
  const shown = sorted(rows, filtered(rows, view), view);
  return view.group === "none" ? Array.from(shown, (row) => ({ kind: "row", row })) : grouped(rows, shown, view);
}

function filtered(rows: Rows, { filter, only }: View): Int32Array {
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
  const found = new Int32Array(rows.length);
  let count = 0;
  for (let row = 0; row < rows.length; row++) {
    const status = rows.status[row];
    if (status === STATUS.pending) continue;
    if ((only === "failed" && status !== STATUS.failed) || (only === "warned" && status !== STATUS.warned)) continue;
    if (words.length > 0) {
      const text = TEXTS.map((name) => rows.text(name, row))
        .join(" ")
        .toLowerCase();
      if (!words.every((word) => text.includes(word))) continue;
    }
    found[count++] = row;
  }
  return found.subarray(0, count);
}

function sorted(rows: Rows, shown: Int32Array, { sort, descending }: View): Int32Array {
  if (sort === "place") return descending ? shown.slice().reverse() : shown;
  const sign = descending ? -1 : 1;
  if (isText(sort)) {
    const order = new Intl.Collator("en", { numeric: true });
    return shown.slice().sort((a, b) => sign * order.compare(rows.text(sort, a), rows.text(sort, b)) || a - b);
  }
  const quantity = rows.column("quantity");
  const values = sort === "position" ? rows.column("value") : rows.column(sort);
  const keyOf = (row: number): number => (sort === "position" ? quantity[row] * values[row] : values[row]);
  const keys = new Float64Array(rows.length);
  for (const row of shown) keys[row] = keyOf(row);
  // What has no number stands at the end, whichever way the others are sorted.
  return shown.slice().sort((a, b) => {
    const [x, y] = [keys[a], keys[b]];
    if (Number.isNaN(x) || Number.isNaN(y)) return Number(Number.isNaN(x)) - Number(Number.isNaN(y)) || a - b;
    return sign * (x - y) || a - b;
  });
}

/** Where the tag's name begins in the key of its column. */
const TAG = "tag:".length;

function isTag(key: string): key is TagKey {
  return key.startsWith("tag:");
}

function isText(key: SortKey): key is TextName | TagKey {
  return isTag(key) || (TEXTS as readonly string[]).includes(key);
}

/** The group of trades that could not be read: what they are written on is not known. It stands first. */
const NOT_READ = "not read";

function grouped(rows: Rows, shown: Int32Array, { group, closed }: View): Line[] {
  const key = group as TextName | TagKey;
  const members = new Map<string, number[]>();
  for (const row of shown) {
    const text = rows.text(key, row);
    const isRead = rows.text("product", row) !== "–";
    const name = !isRead ? NOT_READ : key === "product" ? productKind(text) : text || "–";
    const known = members.get(name);
    if (known === undefined) members.set(name, [row]);
    else known.push(row);
  }
  const names = [...members.keys()].sort(new Intl.Collator("en", { numeric: true }).compare);
  if (members.has(NOT_READ)) names.unshift(...names.splice(names.indexOf(NOT_READ), 1));
  return names.flatMap((name): Line[] => {
    const own = members.get(name) ?? [];
    const sums = sumsOf(rows, own);
    // Amounts of several currencies are not added up: each has a line.
    const heads: Line[] = [{ kind: "group", name, count: own.length, sums: sums.length === 1 ? sums[0] : undefined }];
    if (sums.length > 1) for (const one of sums) heads.push({ kind: "currency", name, count: one.count, sums: one });
    return closed.has(name) ? heads : [...heads, ...own.map((row): Line => ({ kind: "row", row }))];
  });
}

/** "American put" of "American put 105". */
function productKind(product: string): string {
  return product.replace(/ [\d,.]+(?: .*)?$/, "").replace(/^payoff .*$/, "payoff by formula");
}

function sumsOf(rows: Rows, members: readonly number[]): GroupSums[] {
  type Sums = Record<(typeof RESULT_NUMBERS)[number], number>;
  const byCurrency = new Map<string, { count: number; readonly sums: Sums; readonly underlyings: Set<string> }>();
  for (const row of members) {
    if (rows.status[row] === STATUS.failed) continue;
    const currency = rows.text("currency", row);
    let group = byCurrency.get(currency);
    if (group === undefined) {
      const sums = Object.fromEntries(RESULT_NUMBERS.map((name) => [name, 0])) as Sums;
      byCurrency.set(currency, (group = { count: 0, sums, underlyings: new Set() }));
    }
    group.count++;
    const { sums, underlyings } = group;
    underlyings.add(rows.text("underlying", row));
    const quantity = rows.number("quantity", row);
    for (const name of RESULT_NUMBERS)
      sums[name] += (name === "errorEstimate" ? Math.abs(quantity) : quantity) * rows.number(name, row);
  }
  return [...byCurrency].map(([currency, { count, sums, underlyings }]) => {
    if (underlyings.size > 1) for (const name of OF_ONE_UNDERLYING) sums[name] = Number.NaN;
    return { currency, count, sums, underlyings: underlyings.size };
  });
}
