/**
 * The table of results: only the rows in sight are in the page, so that it is as quick for 100,000 trades as for ten.
 */
import { useComputed, useSignal } from "@preact/signals";
import { elementScroll, observeElementOffset, observeElementRect, Virtualizer } from "@tanstack/virtual-core";
import type { VNode } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { decimalsFor, formatErrorEstimate } from "../../src/output/formats/index.ts";
import type { NumberName, TextName } from "../engine/protocol.ts";
import { type Column, columnsOf, isShown } from "../state/columns.ts";
import { compact, decimalsWithin, exponential, fixed, padded, plusMinus } from "../state/numbers.ts";
import { type GroupSums, type Line, type Rows, type SortKey, STATUS } from "../state/rows.ts";
import { inWords } from "./message.tsx";
import { lines, rows, select, selected, version, view } from "../state/store.ts";
import { count } from "./summary.tsx";

const ROW = 34;
/** Rows of values that decide the decimals of a column. */
const SAMPLE = 2000;
const DECIMALS_MOST = 8;
/** A column whose largest number needs more decimals has exponents. */
const DECIMALS_PLAIN = 5;

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
  const columns = useComputed(() => (void version.value, columnsOf(rows.value.tags).filter(isShown))).value;
  const decimals = useComputed(() => (void version.value, decimalsOf(rows.value)));
  const items = list.getVirtualItems();
  return (
    <div
      class="table"
      role="grid"
      aria-label="Priced trades"
      aria-rowcount={all.length + 1}
      aria-colcount={columns.length}
      tabIndex={0}
      ref={scroller}
      style={{ "--columns": templateOf(columns), "--least": leastOf(columns), "--rows": all.length }}
      onKeyDown={(event) => keys(event, all, list)}
    >
      <Head columns={columns} />
      <div role="rowgroup" class="body" style={{ height: `${list.getTotalSize()}px` }}>
        {items.map(({ index, start }) => {
          const line = all[index];
          const place = { transform: `translateY(${start}px)` };
          return line.kind === "row" ? (
            <TradeRow key={`r${line.row}`} {...{ row: line.row, index, place, columns, decimals: decimals.value }} />
          ) : (
            <GroupRow
              key={`${line.kind} ${line.name} ${line.sums?.currency ?? ""}`}
              {...{ line, index, place, columns }}
            />
          );
        })}
      </div>
    </div>
  );
}

const templateOf = (columns: readonly Column[]): string =>
  columns.map(({ width, isText }) => `minmax(${width}rem, ${isText === true ? 2 * width : width}fr)`).join(" ");
const leastOf = (columns: readonly Column[]): string => `${columns.reduce((sum, { width }) => sum + width, 0)}rem`;

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

function Head({ columns }: { readonly columns: readonly Column[] }): VNode {
  const { sort, descending } = view.value;
  return (
    <div role="rowgroup" class="head">
      <div role="row" aria-rowindex={1} class="row">
        {columns.map(({ key, title, unit, about, isText }) => (
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
              onClick={() => sortBy(key, isText !== true)}
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
function sortBy(key: SortKey, first: boolean): void {
  const { sort, descending } = view.value;
  if (sort !== key) view.value = { ...view.value, sort: key, descending: first };
  else if (descending === first) view.value = { ...view.value, descending: !first };
  else view.value = { ...view.value, sort: "place", descending: false };
}

interface RowProps {
  readonly row: number;
  readonly index: number;
  readonly place: { readonly transform: string };
  readonly columns: readonly Column[];
  readonly decimals: Readonly<Record<string, number>>;
}

function TradeRow({ row, index, place, columns, decimals }: RowProps): VNode {
  void version.value;
  const all = rows.value;
  const status = all.status[row];
  const state = status === STATUS.failed ? "failed" : status === STATUS.warned ? "warned" : "";
  return (
    <div
      role="row"
      aria-rowindex={index + 2}
      aria-selected={selected.value === row}
      class={`row ${all.stale[row] === 1 ? "stale " : ""}${state}`}
      style={place}
      title={inWords(all.text("note", row))}
      onClick={() => select(row)}
    >
      {columns.map((column) => (
        <Cell key={column.key} column={column} row={row} decimals={decimals[column.key] ?? 0} />
      ))}
    </div>
  );
}

interface CellProps {
  readonly column: Column;
  readonly row: number;
  readonly decimals: number;
}

function Cell({ column, row, decimals }: CellProps): VNode {
  void version.value;
  const all = rows.value;
  const { key, isText } = column;
  if (isText === true) {
    const text = all.text(key as TextName, row).replaceAll("\n", ", ");
    const shown = key === "method" && all.status[row] === STATUS.failed ? "not priced" : text;
    return (
      <div role="gridcell" class="text" title={shown.length > 12 && key !== "note" ? shown : undefined}>
        {key === "note" ? inWords(shown) : shown}
      </div>
    );
  }
  const value = valueOf(all, row, column);
  const own = key === "value" || key === "position" ? Math.min(decimalsOfCell(all, row, key), decimals) : decimals;
  const isTiny = own > DECIMALS_PLAIN && key !== "value";
  const text =
    key === "errorEstimate"
      ? formatErrorEstimate(Number.isNaN(value) ? null : value)
      : isTiny
        ? exponential(value)
        : fixed(value, own);
  return (
    <div role="gridcell" class={key === "position" && value < 0 ? "number negative" : "number"}>
      {isTiny ? text : padded(text, own, decimals)}
      {key === "value" && <small class="error">{plusMinus(value, all.number("errorEstimate", row))}</small>}
    </div>
  );
}

function valueOf(all: Rows, row: number, { key, scale = 1 }: Column): number {
  return key === "position"
    ? all.number("value", row) * all.number("quantity", row)
    : scale * all.number(key as NumberName, row);
}

/** Positions are amounts: two decimals are enough. */
function decimalsOfCell(all: Rows, row: number, key: "value" | "position"): number {
  const error = all.number("errorEstimate", row);
  if (key === "value") return decimalsWithin(all.number("value", row), error);
  const quantity = all.number("quantity", row);
  return Math.min(decimalsWithin(quantity * all.number("value", row), Math.abs(quantity) * error), 2);
}

/** The decimals of each column: the most that one of its numbers has, so that their points stand under each other. */
function decimalsOf(all: Rows): Record<string, number> {
  const places = Array.from({ length: Math.min(all.length, SAMPLE) }, (_, row) => row);
  const entries = columnsOf([])
    .filter(({ isText }) => isText !== true)
    .map((column): [string, number] => {
      const { key } = column;
      if (key === "expiry") return [key, 2];
      const known = places.filter((row) => Number.isFinite(valueOf(all, row, column)));
      const values = known.map((row) => valueOf(all, row, column));
      if (key === "quantity") return [key, values.every((value) => Number.isInteger(value)) ? 0 : 2];
      if (key !== "value" && key !== "position") return [key, decimalsFor(values, 4)];
      const most = key === "value" ? DECIMALS_MOST : decimalsFor(values, 6);
      return [key, Math.min(Math.max(...known.map((row) => decimalsOfCell(all, row, key)), 0), most)];
    });
  return Object.fromEntries(entries);
}

interface GroupProps {
  readonly line: Exclude<Line, { kind: "row" }>;
  readonly index: number;
  readonly place: { readonly transform: string };
  readonly columns: readonly Column[];
}

/** The head of a group or a currency of it: its name over the columns of texts, then its sums, as far as it has some. */
function GroupRow({ line, index, place, columns }: GroupProps): VNode {
  const firstNumber = columns.findIndex(({ isText, key }) => isText !== true && key !== "expiry" && key !== "quantity");
  const span = firstNumber < 0 ? columns.length : firstNumber;
  const trades = `${count(line.count)} ${line.count === 1 ? "trade" : "trades"}`;
  return (
    <div role="row" aria-rowindex={index + 2} class="row group" style={place}>
      <div role="gridcell" class="text" aria-colspan={span} style={{ gridColumn: `1 / span ${span}` }}>
        {line.kind === "group" ? (
          <button type="button" class="quiet" aria-expanded={!view.value.closed.has(line.name)} onClick={toggle(line)}>
            {line.name} <small>{trades}</small>
          </button>
        ) : (
          <span class="of-currency">
            {line.name}, {line.sums.currency} <small>{trades}</small>
          </span>
        )}
      </div>
      {columns.slice(span).map((column) => (
        <div
          role="gridcell"
          key={column.key}
          class={column.isText === true ? "text" : "number"}
          title={titleOf(line.sums, column)}
        >
          {line.sums !== undefined && groupCell(line.sums, column)}
        </div>
      ))}
    </div>
  );
}

/** Shows or hides the rows of a group. */
function toggle({ name }: GroupProps["line"]): () => void {
  return () => {
    const closed = new Set(view.value.closed);
    if (!closed.delete(name)) closed.add(name);
    view.value = { ...view.value, closed };
  };
}

function titleOf(sums: GroupSums | undefined, { key, scale = 1 }: Column): string | undefined {
  if (sums === undefined || !Object.hasOwn(sums.sums, key) || key === "value") return undefined;
  if (sums.underlyings > 1 && ["delta", "gamma", "vega"].includes(key))
    return `${sums.underlyings} underlyings: their ${key}s have no sum`;
  return String(scale * sums.sums[key as keyof GroupSums["sums"]]);
}

function groupCell({ currency, sums }: GroupSums, { key, scale = 1 }: Column): string {
  if (key === "currency") return currency;
  if (key === "position") return fixed(sums.value, Math.min(decimalsWithin(sums.value, sums.errorEstimate), 2));
  if (key === "value" || !Object.hasOwn(sums, key)) return "";
  const value = scale * sums[key as keyof typeof sums];
  return key === "errorEstimate" ? formatErrorEstimate(value) : compact(value);
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
