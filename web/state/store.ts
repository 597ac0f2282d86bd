/** The page's state, and what can be done to it. */
import { batch, computed, effect, signal } from "@preact/signals";
import type { ColumnMap } from "../../src/book/index.ts";
import { Engine, EngineError } from "../engine/client.ts";
import type { DeviceChoice, Edit, ExportFormat, GivenFile, LoadedBook, OpenedDevice } from "../engine/protocol.ts";
import type { Given, UnknownColumn } from "../engine/protocol.ts";
import type { Answer, Argument, CallName, Event, Failure, RunChoice, RunEnd, TradeDetail } from "../engine/protocol.ts";
import { PLAYS } from "../examples/plays.ts";
import type { Schema } from "../form/schema.ts";
import { type Line, linesOf, Rows, type View } from "./rows.ts";

export const engine = new Engine(
  () => new Worker(new URL("../engine/worker.ts", import.meta.url), { type: "module", name: "feynkac" }),
);

/** What went wrong, and with what. */
export interface Problem {
  readonly title: string;
  readonly message: string;
  readonly path?: string | undefined;
}

export type Run =
  | { readonly state: "none" }
  | { readonly state: "running"; readonly done: number; readonly total: number }
  | { readonly state: "done"; readonly end: RunEnd }
  | { readonly state: "cancelled" }
  | { readonly state: "failed" };

export const choice = signal<DeviceChoice>({ backend: "cpu", precision: "f64" });
export const TABS = ["Book", "Pictures", "Risk", "Explain", "Playground"] as const;
export type Tab = (typeof TABS)[number];
export const tab = signal<Tab>("Book");
export const playCode = signal(PLAYS[0].code);
export const schema = signal<Schema | undefined>(undefined);
export const device = signal<OpenedDevice | undefined>(undefined);
export const book = signal<LoadedBook | undefined>(undefined);
export const run = signal<Run>({ state: "none" });
export const runChoice = signal<RunChoice>({ greeks: "all" });
export const problem = signal<Problem | undefined>(undefined);
/** A table whose columns have to be mapped before it can be read. */
export const unmapped = signal<(Given & { readonly columns: readonly UnknownColumn[] }) | undefined>(undefined);
export const notice = signal<string | undefined>(undefined);
export const rows = signal(new Rows(0));
/** Counts blocks of results, so that what shows rows knows that they have changed. */
export const version = signal(0);
export const selected = signal<number | undefined>(undefined);
/** Edits that take back what was edited, the last one last, and those that carry it out again. */
export const undos = signal<readonly Edit[]>([]);
export const redos = signal<readonly Edit[]>([]);
export const detail = signal<TradeDetail | undefined>(undefined);
export const view = signal<View>({
  filter: "",
  only: "all",
  sort: "place",
  descending: false,
  group: "none",
  closed: new Set(),
});

export const lines = computed<readonly Line[]>(() => {
  void version.value;
  return linesOf(rows.value, view.value);
});

let controller: AbortController | undefined;

engine.onLost = (reason) => {
  device.value = undefined;
  problem.value = { title: "The device was lost", message: `${reason}. Prices are computed on the CPU from here on.` };
  choice.value = { backend: "cpu", precision: "f64" };
};

engine.onRestart = () => {
  device.value = undefined;
  markStale();
  if (run.value.state === "done") void price();
  else void loadDetail();
};

/** Opens a device, and prices the book on it; the page keeps the device it has where that cannot be done. */
export function openDevice(wanted: DeviceChoice): Promise<void> {
  return running(`${wanted.backend === "webgpu" ? "WebGPU" : "This device"} cannot be used here`, async () => {
    const opened = await engine.call("open", wanted);
    batch(() => {
      choice.value = wanted;
      device.value = opened;
      markStale();
    });
  });
}

/** Loads a book from files, and prices it. A table with columns of its own is first asked what they mean. */
export function openFiles(given: readonly GivenFile[], map?: ColumnMap): Promise<void> {
  unmapped.value = undefined;
  return running(`${given.map(({ name }) => name).join(" and ")} cannot be read`, async () => {
    const files = await Promise.all(given.map(copied));
    const loaded = await engine.call("load", { files, map }).catch((error: unknown) => {
      if (!(error instanceof EngineError) || error.columns === undefined) throw error;
      unmapped.value = { files, columns: error.columns, map };
      return undefined;
    });
    if (loaded === undefined) return false;
    const { group, sort } = view.value;
    batch(() => {
      book.value = loaded;
      undos.value = redos.value = [];
      rows.value = new Rows(loaded.trades);
      selected.value = undefined;
      detail.value = undefined;
      view.value = {
        ...view.value,
        filter: "",
        only: "all",
        closed: new Set(),
        // The tags of another book.
        group: group.startsWith("tag:") ? "none" : group,
        sort: sort.startsWith("tag:") ? "place" : sort,
      };
    });
    return true;
  });
}

/** A file in memory: one on the disk that has changed cannot be read again when the engine is started again. */
async function copied({ name, file }: GivenFile): Promise<GivenFile> {
  return { name, file: new Blob([await file.arrayBuffer()], { type: file.type }) };
}

/** Prices the book under named scenarios from a table, in the place of its own. */
export function openScenarios(given: GivenFile): Promise<void> {
  return running(`${given.name} cannot be read`, async () => {
    book.value = await engine.call("scenarios", await copied(given));
    markStale();
  });
}

/** Opens a book that is plain data: an example, or one from the address. */
export function openPlain(name: string, value: unknown): Promise<void> {
  return openFiles([{ name, file: new Blob([JSON.stringify(value)]) }]);
}

/** Prices the trades that have no result of the book as it stands. */
export const price = (): Promise<void> => running("");

/** Shows that no result is one of the book as it stands. */
function markStale(): void {
  rows.value.setStale(Int32Array.from({ length: rows.value.length }, (_, place) => place));
  version.value++;
}

/** Edits of one field within so many milliseconds, as digits are typed, are taken back together. */
const TOGETHER = 1000;
let lastEdit = { of: "", time: 0 };

/** Carries out an edit, and prices what depends on it. */
export function editBook(edit: Edit): Promise<void> {
  const of = edit.kind === "header" ? edit.path.join(".") : `${edit.kind} ${edit.place}`;
  const joins = edit.kind !== "remove" && of === lastEdit.of && performance.now() - lastEdit.time < TOGETHER;
  lastEdit = { of, time: performance.now() };
  return carryOut(edit, (inverse) => {
    if (!joins || undos.value.length === 0) undos.value = [...undos.value, inverse];
    redos.value = [];
  });
}

/** Takes the last edit back. */
export async function undo(): Promise<void> {
  const last = undos.value.at(-1);
  if (last === undefined) return;
  undos.value = undos.value.slice(0, -1);
  lastEdit = { of: "", time: 0 };
  await carryOut(last, (inverse) => (redos.value = [...redos.value, inverse]));
}

/** Carries the edit out again that was taken back last. */
export async function redo(): Promise<void> {
  const last = redos.value.at(-1);
  if (last === undefined) return;
  redos.value = redos.value.slice(0, -1);
  await carryOut(last, (inverse) => (undos.value = [...undos.value, inverse]));
}

/** Edits that the engine has not answered yet. */
let editing = 0;

async function carryOut(edit: Edit, keep: (inverse: Edit) => void): Promise<void> {
  editing++;
  // The form shows what was entered at once, also while the engine is busy.
  if (edit.kind === "trade" && detail.value?.place === edit.place)
    detail.value = { ...detail.value, input: edit.value };
  await running("The book cannot be changed", async () => {
    const { book: changed, inverse, stale } = await engine.call("edit", edit).finally(() => editing--);
    batch(() => {
      if (edit.kind === "insert") rows.value = rows.value.withRow(edit.place);
      if (edit.kind === "remove") rows.value = rows.value.withoutRow(edit.place);
      if (edit.kind === "trade" && edit.place >= rows.value.length) rows.value = rows.value.withRow(edit.place);
      if (edit.kind !== "header") selected.value = Math.min(edit.place, rows.value.length - 1);
      rows.value.setStale(stale);
      version.value++;
      book.value = changed;
      keep(inverse);
    });
    void loadDetail();
  });
  await loadDetail();
}

export function cancel(): void {
  controller?.abort(new DOMException("cancelled", "AbortError"));
}

/**
 * Changes what the engine holds, and prices what has to be priced then. Where the change fails, or returns false because
 * nothing has changed, a run that was under way goes on. Only the last of several runs prices.
 */
async function running(title: string, change?: () => Promise<boolean | void>): Promise<void> {
  controller?.abort(new DOMException("another run", "AbortError"));
  const own = (controller = new AbortController());
  const before = run.value;
  run.value = { state: "running", done: 0, total: 0 };
  const isChanged = change === undefined || (await attempt(title, change));
  if (own !== controller) return;
  if (!isChanged && before.state !== "running") run.value = before;
  else await pricing(own.signal, isChanged);
}

/** Carries out a change; what went wrong with it is shown. */
export async function attempt(title: string, change: () => Promise<boolean | void>): Promise<boolean> {
  try {
    return (await change()) !== false;
  } catch (error) {
    problem.value = problemOf(title, error);
    return false;
  }
}

async function pricing(signal: AbortSignal, clearsProblem: boolean): Promise<void> {
  if (book.value === undefined) {
    run.value = { state: "none" };
    return;
  }
  try {
    const end = await engine.call("price", runChoice.value, { signal, onEvent: hear });
    batch(() => {
      if (clearsProblem) problem.value = undefined;
      run.value = { state: "done", end };
      device.value ??= { ...end.device, precision: end.precision, parallel: globalThis.crossOriginIsolated };
    });
    if (selected.value === undefined && rows.value.length > 0) select(0);
  } catch (error) {
    if (signal !== controller?.signal) return;
    run.value = signal.aborted ? { state: "cancelled" } : { state: "failed" };
    if (!signal.aborted) problem.value = problemOf("The book cannot be priced", error);
  }
}

/** Asks the engine; what it refuses is shown, and there is no answer then. */
export async function ask<N extends CallName>(
  title: string,
  name: N,
  argument: Argument<N>,
): Promise<Answer<N> | undefined> {
  try {
    return await engine.call(name, argument);
  } catch (error) {
    problem.value = problemOf(title, error);
    return undefined;
  }
}

function hear(event: Event): void {
  if (event.kind === "rows") {
    rows.value.put(event.block);
    version.value++;
  } else if (event.kind === "progress" && run.value.state === "running")
    run.value = { state: "running", done: event.done, total: event.total };
}

export function select(row: number): void {
  selected.value = row;
  void loadDetail();
}

async function loadDetail(): Promise<void> {
  const row = selected.value;
  if (row === undefined || row >= rows.value.length) return;
  const found = await ask("The trade cannot be shown", "detail", row);
  // An answer of before an edit would take back what has been entered.
  const isOld = editing > 0 && detail.value?.place === row;
  if (selected.value === row && !isOld) detail.value = found;
}

/** What a trade may look like, as the book's schema says. */
export async function loadSchema(): Promise<void> {
  schema.value ??= (await ask("The form cannot be shown", "schema", undefined)) as Schema | undefined;
}

/** A new trade at the end of the book, which its form then changes. */
export async function addTrade(): Promise<void> {
  const { underlyings } = (book.value?.header["market"] ?? {}) as {
    readonly underlyings?: Readonly<Record<string, { readonly spot?: number }>>;
  };
  const [name, { spot = 100 }] = Object.entries(underlyings ?? {})[0] ?? ["", {}];
  const place = rows.value.length;
  const strike = Number(spot.toPrecision(3));
  const value = {
    id: `Trade ${place + 1}`,
    underlying: name,
    payoff: "put",
    strike,
    expiry: 1,
    exercise: "american",
    quantity: 1,
  };
  await editBook({ kind: "trade", place, value });
}

/** Saves results, or the book itself, as a file. */
export async function save(format: ExportFormat): Promise<void> {
  const file = await ask("Nothing was saved", "export", format);
  if (file === undefined) return;
  const { name, bytes } = file;
  const link = document.createElement("a");
  link.href = URL.createObjectURL(bytes);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

export function problemOf(title: string, error: unknown): Problem {
  const { message } = error instanceof Error ? error : { message: String(error) };
  const path = error instanceof EngineError ? error.path : (error as Partial<Failure>).path;
  return { title, message, path };
}

// The colours that the visitor asked for, or those of the system.
export type Theme = "system" | "light" | "dark";
export const theme = signal<Theme>((localStorage.getItem("theme") as Theme | null) ?? "system");
effect(() => {
  document.documentElement.dataset["theme"] = theme.value;
  localStorage.setItem("theme", theme.value);
});
