/** The book that the worker holds: what was written, what was read of it, and its results. */
import {
  type AnyTrade,
  type BookContext,
  type BookHeader,
  contextOf,
  currencyOf,
  type ParsedTrade,
  readHeader,
  type ScenarioTable,
  type TradeResult,
  underlyingsOf,
} from "../../src/book/index.ts";
import { changesOf } from "./changes.ts";
import type { Change, Edit, LoadedBook } from "./protocol.ts";
import type { ReadBook } from "./read.ts";

type Plain = Readonly<Record<string, unknown>>;

export class SessionBook {
  readonly name: string;
  readonly results: (TradeResult | undefined)[];
  readonly parsed: ParsedTrade[];
  readonly entries: unknown[];
  /** Whether a trade's result is missing, or that of before an edit. */
  readonly stale: boolean[];
  /** Named scenarios from a file, in the place of those of the book. */
  table: ScenarioTable | undefined;
  readonly #loaded: Plain;
  #written: Plain;
  #header: BookHeader;

  constructor({ name, header, entries, parsed }: ReadBook) {
    this.name = name;
    this.entries = entries;
    this.parsed = parsed;
    this.results = new Array<undefined>(parsed.length).fill(undefined);
    this.stale = new Array<boolean>(parsed.length).fill(true);
    this.#loaded = { ...header, trades: [...entries] };
    this.#written = header;
    this.#header = readHeader(header);
  }

  get context(): BookContext {
    const context = contextOf(this.#header);
    return this.table === undefined ? context : { ...context, scenarioTable: this.table };
  }

  get market(): BookHeader["market"] {
    return this.#header.market;
  }

  get info(): LoadedBook {
    const { asOf, scenarios } = this.#header;
    const named = this.context.scenarioTable?.names.length ?? 0;
    return { name: this.name, asOf, scenarios, named, trades: this.parsed.length, header: this.#written };
  }

  /** The book as it stands, with its edits. */
  get written(): Plain {
    return { ...this.#written, trades: this.entries };
  }

  /** How the book differs from what was loaded. */
  get changes(): Change[] {
    return changesOf(this.#loaded, this.written);
  }

  /** The places of the trades that have to be priced. */
  get stalePlaces(): number[] {
    return this.stale.flatMap((isStale, place) => (isStale ? [place] : []));
  }

  /** Carries an edit out, and returns the one that takes it back. @throws BookError */
  edit(edit: Edit): Edit {
    switch (edit.kind) {
      case "trade": {
        const { place } = edit;
        const isNew = place >= this.entries.length;
        const before = this.entries[place];
        this.#editTrade(place, edit.value);
        return isNew ? { kind: "remove", place } : { kind: "trade", place, value: before };
      }
      case "insert":
        this.#splice(edit.place, 0, [edit.value]);
        this.#editTrade(edit.place, edit.value);
        return { kind: "remove", place: edit.place };
      case "remove": {
        const value = this.entries[edit.place];
        this.#splice(edit.place, 1, []);
        return { kind: "insert", place: edit.place, value };
      }
      case "header": {
        const { path } = edit;
        const before = path.reduce<unknown>((inner, key) => (inner as Plain | undefined)?.[key], this.#written);
        this.#editHeader(path, edit.value);
        return { kind: "header", path, value: before };
      }
      default:
        return edit satisfies never;
    }
  }

  #splice(place: number, count: number, values: readonly unknown[]): void {
    const unread: ParsedTrade[] = values.map((value) => this.#read(value, place));
    this.entries.splice(place, count, ...values);
    this.parsed.splice(place, count, ...unread);
    this.results.splice(place, count, ...values.map(() => undefined));
    this.stale.splice(place, count, ...values.map(() => true));
  }

  #editTrade(place: number, value: unknown): void {
    const parsed = this.#read(value, place);
    const twin = this.parsed.findIndex(
      (one, i) => i !== place && idOf(one) !== undefined && idOf(one) === idOf(parsed),
    );
    this.entries[place] = value;
    this.parsed[place] = twin < 0 ? parsed : this.#readTwice(value, place, twin);
    this.stale[place] = true;
  }

  /** A header knows which names it has seen; that of the trade before the edit is not to count. */
  #read(value: unknown, place: number): ParsedTrade {
    return readHeader(this.#written).readEntry(value, place);
  }

  /** The same error for a name that is there already as the engine gives. */
  #readTwice(value: unknown, place: number, twin: number): ParsedTrade {
    const header = readHeader(this.#written);
    header.readEntry(this.entries[twin], twin);
    return header.readEntry(value, place);
  }

  #editHeader(path: readonly (string | number)[], value: unknown): void {
    const written = withValue(this.#written, path, value) as Plain;
    const header = readHeader(written);
    this.#written = written;
    this.#header = header;
    const [part, of, name] = path;
    const isAffected =
      part === "market" && of === "underlyings"
        ? (trade: AnyTrade): boolean => underlyingsOf(trade).includes(String(name))
        : part === "market" && of === "rates"
          ? (trade: AnyTrade): boolean => currencyOf(trade) === name
          : () => true;
    for (const [place, before] of this.parsed.entries()) {
      if (before.ok && !isAffected(before.trade)) continue;
      this.parsed[place] = header.readEntry(this.entries[place], place);
      this.stale[place] = true;
    }
  }
}

function idOf(parsed: ParsedTrade): string | undefined {
  return parsed.ok ? parsed.trade.id : parsed.id;
}

/** A copy of plain data in which one place has another value; undefined takes the place away. */
export function withValue(data: unknown, path: readonly (string | number)[], value: unknown): unknown {
  const [key, ...rest] = path;
  if (key === undefined) return value;
  if (Array.isArray(data)) {
    const copy: unknown[] = [...data];
    copy[key as number] = withValue(copy[key as number], rest, value);
    return copy.filter((item) => item !== undefined);
  }
  const { [key]: inner, ...others } = (data ?? {}) as Plain;
  const changed = withValue(inner, rest, value);
  if (changed === undefined) return others;
  // The order of fields stays what it was.
  return Object.hasOwn(data ?? {}, key)
    ? Object.fromEntries(Object.entries(data as Plain).map(([name, old]) => [name, name === key ? changed : old]))
    : { ...others, [key]: changed };
}
