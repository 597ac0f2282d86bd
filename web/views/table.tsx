/**
 * The table of results: only the rows in sight are in the page, so that it is as quick for 100,000 trades as for ten.
 */
import { useComputed, useSignal } from "@preact/signals";
import { elementScroll, observeElementOffset, observeElementRect, Virtualizer } from "@tanstack/virtual-core";
import type { VNode } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { decimalsFor, formatFixed, formatErrorEstimate } from "../../src/output/formats/index.ts";
import type { NumberName, TextName } from "../engine/protocol.ts";
import { type Line, type Rows, type SortKey, STATUS } from "../state/rows.ts";
import { lines, rows, select, selected, version, view } from "../state/store.ts";
import { count } from "./summary.tsx";

interface Column {
  readonly key: SortKey;
  readonly title: string;
  readonly unit: string;
  readonly about: string;
  readonly width: string;
  readonly isText?: boolean;
}

const COLUMNS: readonly Column[] = [
  { key: "id", title: "Trade", unit: "", about: "the trade's name", width: "minmax(9rem, 1.5fr)", isText: true },
  {
    key: "product",
    title: "Product",
    unit: "",
    about: "what is bought or sold",
    width: "minmax(11rem, 2fr)",
    isText: true,
  },
  {
    key: "underlying",
    title: "Underlying",
    unit: "",
    about: "what it is written on",
    width: "minmax(7rem, 0.8fr)",
    isText: true,
  },
  { key: "expiry", title: "Expiry", unit: "years", about: "from the day of valuation", width: "4.5rem" },
  { key: "quantity", title: "Quantity", unit: "units", about: "negative when sold", width: "6rem" },
  { key: "value", title: "Value", unit: "a unit", about: "of one unit, in the currency", width: "7rem" },
  { key: "position", title: "Position", unit: "× quantity", about: "value × quantity", width: "8rem" },
  { key: "currency", title: "", unit: "", about: "currency", width: "3.2rem", isText: true },
  { key: "delta", title: "Delta", unit: "per 1 of spot", about: "∂V/∂S", width: "6rem" },
  { key: "gamma", title: "Gamma", unit: "per 1 of spot²", about: "∂²V/∂S²", width: "6.5rem" },
  { key: "theta", title: "Theta", unit: "a year", about: "∂V/∂t", width: "6rem" },
  {
    key: "vega",
    title: "Vega",
    unit: "per 1.00 vol.",
    about: "∂V/∂σ, a parallel move of the volatility",
    width: "6rem",
  },
  { key: "rho", title: "Rho", unit: "per 1.00 rate", about: "∂V/∂r, a parallel move of rates", width: "6.5rem" },
  {
    key: "errorEstimate",
    title: "Error",
    unit: "estimated",
    about: "a bound meant to hold the error of the value",
    width: "6.5rem",
  },
  { key: "method", title: "Method", unit: "", about: "how it was priced", width: "minmax(6rem, 0.8fr)", isText: true },
];

const TEMPLATE = COLUMNS.map(({ width }) => width).join(" ");
const ROW = 34;
/** Rows of values that decide the decimals of a column. */
const SAMPLE = 2000;

export function ResultsTable(): VNode {
  const scroller = useRef<HTMLDivElement>(null);
  const redraw = useSignal(0);
  const virtualizer = useRef<Virtualizer<HTMLDivElement, HTMLDivElement>>(undefined);
  const all = lines.value;
  virtualizer.current ??= new Virtualizer<HTMLDivElement, HTMLDivElement>(optionsOf(all.length, scroller, redraw));
  const list = virtualizer.current;
  list.setOptions(optionsOf(all.length, scroller, redraw));
  useEffect(() => list._didMount(), [list]);
  useEffect(() => list._willUpdate());
  void redraw.value;
  const decimals = useComputed(() => (void version.value, decimalsOf(rows.value)));
  const items = list.getVirtualItems();
  return (
    <div
      class="table"
      role="grid"
      aria-label="Priced trades"
      aria-rowcount={all.length + 1}
      aria-colcount={COLUMNS.length}
      tabIndex={0}
      ref={scroller}
      style={{ "--columns": TEMPLATE, "--rows": all.length }}
      onKeyDown={(event) => keys(event, all, list)}
    >
      <Head />
      <div role="rowgroup" class="body" style={{ height: `${list.getTotalSize()}px` }}>
        {items.map(({ index, start }) => {
          const line = all[index];
          const place = { transform: `translateY(${start}px)` };
          return line.kind === "row" ? (
            <TradeRow key={`r${line.row}`} row={line.row} index={index} place={place} decimals={decimals.value} />
          ) : (
            <GroupRow key={`g${line.name}`} line={line} index={index} place={place} />
          );
        })}
      </div>
    </div>
  );
}

type Redraw = { value: number };

function optionsOf(
  count: number,
  scroller: { readonly current: HTMLDivElement | null },
  redraw: Redraw,
): ConstructorParameters<typeof Virtualizer<HTMLDivElement, HTMLDivElement>>[0] {
  return {
    count,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW,
    overscan: 12,
    scrollPaddingStart: 2 * ROW,
    observeElementRect,
    observeElementOffset,
    scrollToFn: elementScroll,
    onChange: () => void (redraw.value += 1),
  };
}

function Head(): VNode {
  const { sort, descending } = view.value;
  return (
    <div role="rowgroup" class="head">
      <div role="row" aria-rowindex={1} class="row">
        {COLUMNS.map(({ key, title, unit, about, isText }) => (
          <div
            role="columnheader"
            key={key}
            class={isText === true ? "text" : "number"}
            aria-sort={sort === key ? (descending ? "descending" : "ascending") : "none"}
          >
            <button
              type="button"
              title={about}
              aria-label={title === "" ? about : undefined}
              onClick={() => sortBy(key)}
            >
              <span>
                {title}
                {sort === key && <i aria-hidden="true">{descending ? " ↓" : " ↑"}</i>}
              </span>
              <small>{unit}</small>
            </button>
          </div>
        ))}
      </div>
    </div>
  );
}

/** Numbers begin with the largest, texts at A; a third click brings the book's own order back. */
function sortBy(key: SortKey): void {
  const { sort, descending } = view.value;
  const first = COLUMNS.find((column) => column.key === key)?.isText !== true;
  if (sort !== key) view.value = { ...view.value, sort: key, descending: first };
  else if (descending === first) view.value = { ...view.value, descending: !first };
  else view.value = { ...view.value, sort: "place", descending: false };
}

interface RowProps {
  readonly row: number;
  readonly index: number;
  readonly place: { readonly transform: string };
  readonly decimals: Readonly<Record<string, number>>;
}

function TradeRow({ row, index, place, decimals }: RowProps): VNode {
  void version.value;
  const status = rows.value.status[row];
  const note = rows.value.text("note", row);
  return (
    <div
      role="row"
      aria-rowindex={index + 2}
      aria-selected={selected.value === row}
      class={`row ${rows.value.stale[row] === 1 ? "stale " : ""}${status === STATUS.failed ? "failed" : status === STATUS.warned ? "warned" : ""}`}
      style={place}
      title={note}
      onClick={() => select(row)}
    >
      {COLUMNS.map(({ key, isText }) => (
        <div role="gridcell" key={key} class={isText === true ? "text" : "number"}>
          {cellOf(rows.value, row, key, decimals)}
        </div>
      ))}
    </div>
  );
}

function cellOf(all: Rows, row: number, key: SortKey, decimals: Readonly<Record<string, number>>): string {
  if (key === "method" && all.status[row] === STATUS.failed) return "not priced";
  if (COLUMNS.find((column) => column.key === key)?.isText === true) return all.text(key as TextName, row);
  const value = valueOf(all, row, key);
  if (Number.isNaN(value)) return "–";
  return key === "errorEstimate" ? formatErrorEstimate(value) : formatFixed(value, decimals[key]);
}

function valueOf(all: Rows, row: number, key: SortKey): number {
  return key === "position"
    ? all.number("value", row) * all.number("quantity", row)
    : all.number(key as NumberName, row);
}

const DIGITS: Readonly<Record<string, number>> = {
  value: 7,
  position: 8,
  delta: 5,
  gamma: 5,
  theta: 6,
  vega: 6,
  rho: 6,
};

/** One number of decimals for each column, so that the points stand under each other. */
function decimalsOf(all: Rows): Record<string, number> {
  const places = Array.from({ length: Math.min(all.length, SAMPLE) }, (_, row) => row);
  const entries = COLUMNS.filter(({ isText }) => isText !== true).map(({ key }): [string, number] => {
    if (key === "expiry") return [key, 2];
    const values = places.map((row) => valueOf(all, row, key)).filter((value) => Number.isFinite(value));
    if (key === "quantity") return [key, values.every((value) => Number.isInteger(value)) ? 0 : 2];
    return [key, decimalsFor(values, DIGITS[key] ?? 6)];
  });
  return Object.fromEntries(entries);
}

interface GroupProps {
  readonly line: Extract<Line, { kind: "group" }>;
  readonly index: number;
  readonly place: { readonly transform: string };
}

function GroupRow({ line, index, place }: GroupProps): VNode {
  const { closed } = view.value;
  const isOpen = !closed.has(line.name);
  const toggle = (): void => {
    const next = new Set(closed);
    if (isOpen) next.add(line.name);
    else next.delete(line.name);
    view.value = { ...view.value, closed: next };
  };
  // Amounts of several currencies are not added up.
  const [only, ...others] = line.sums;
  return (
    <div role="row" aria-rowindex={index + 2} class="row group" style={place}>
      {COLUMNS.map(({ key, isText }) => (
        <div role="gridcell" key={key} class={isText === true ? "text" : "number"}>
          {key === "id" ? (
            <button type="button" class="quiet" aria-expanded={isOpen} onClick={toggle}>
              {line.name} <small>{count(line.count)}</small>
            </button>
          ) : (
            only !== undefined && others.length === 0 && groupCell(only, key)
          )}
        </div>
      ))}
    </div>
  );
}

function groupCell({ currency, sums }: Extract<Line, { kind: "group" }>["sums"][number], key: SortKey): string {
  if (key === "currency") return currency;
  const name = key === "position" ? "value" : key === "value" ? undefined : (key as keyof typeof sums);
  const value = name === undefined ? undefined : sums[name];
  if (value === undefined) return "";
  return key === "errorEstimate"
    ? formatErrorEstimate(value)
    : formatFixed(Number.isNaN(value) ? null : value, decimalsFor([value], 7));
}

/** The arrows move the selection, and the list with it. */
function keys(event: KeyboardEvent, all: readonly Line[], list: Virtualizer<HTMLDivElement, HTMLDivElement>): void {
  const page = Math.max(Math.floor((list.scrollRect?.height ?? 10 * ROW) / ROW) - 3, 1);
  const step = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -all.length, End: all.length }[
    event.key
  ];
  if (step === undefined || all.length === 0) return;
  event.preventDefault();
  const at = all.findIndex((line) => line.kind === "row" && line.row === selected.value);
  const direction = Math.sign(step);
  let next = Math.min(Math.max(at + step, 0), all.length - 1);
  while (all[next].kind !== "row" && next + direction >= 0 && next + direction < all.length) next += direction;
  const line = all[next];
  if (line.kind !== "row") return;
  select(line.row);
  list.scrollToIndex(next);
}
