/** What the worker does: opens devices, loads books, prices them, and hands out what the page asks for. */
import {
  bookJsonSchema,
  columnTerms,
  currencyOf,
  describeTrade,
  type ParsedTrade,
  Totals,
  type TradeResult,
} from "../../src/book/index.ts";
import { type Device, offeredPrecision, openDevice } from "../../src/device/index.ts";
import { SpecError } from "../../src/base/errors.ts";
import type { Precision } from "../../src/kernel/index.ts";
import { priceTrades } from "../../src/pricing/index.ts";
import type { Chart } from "../../src/output/charts/index.ts";
import { SessionBook } from "./book.ts";
import type { PictureRequest } from "./pictures.ts";
import type { PlayRequest, PlayResult } from "./play.ts";
import { Pricer } from "./pricer.ts";
import type { ExplainAnswer, ExplainRequest, GivenFile, RiskAnswer, RiskRequest } from "./protocol.ts";
import type { Calls, Change, DeviceChoice, Edit, Edited, Event, Fit, Given, LoadedBook } from "./protocol.ts";
import type { OpenedDevice, ExportedFile, ExportFormat, RunChoice, RunEnd, TradeDetail } from "./protocol.ts";
import { readFiles, readScenarios } from "./read.ts";
import { rowBlock } from "./rows.ts";

/** Trades of a book that is priced in small batches, and of such a batch. */
const SMALL = 40;
const FIRST = 4;

/** What a call has besides its argument. */
export interface CallContext {
  readonly signal: AbortSignal;
  readonly tell: (event: Event, transfer?: Transferable[]) => void;
}

export type Session = { [N in keyof Calls]: (argument: never, context: CallContext) => Promise<ReturnType<Calls[N]>> };

interface Open {
  readonly device: Device;
  readonly choice: DeviceChoice;
  readonly precision: Precision;
}

export class EngineSession implements Session {
  #open: Open | undefined;
  /** The CPU while it is being opened, where nothing else has been chosen. */
  #usual: Promise<Open> | undefined;
  #book: SessionBook | undefined;
  readonly #onLost: (reason: string) => void;

  constructor(onLost: (reason: string) => void) {
    this.#onLost = onLost;
  }

  async open(choice: DeviceChoice): Promise<OpenedDevice> {
    const { device, precision } = await this.#openAs(choice);
    this.#book?.stale.fill(true);
    return { backend: device.backend, name: device.name, precision, parallel: globalThis.crossOriginIsolated };
  }

  async #openAs(choice: DeviceChoice): Promise<Open> {
    const { backend, precision: wanted, threads } = choice;
    const device = await openDevice({
      backend,
      precision: wanted,
      ...(backend === "cpu" && threads !== undefined ? { threads } : {}),
    });
    this.#open?.device[Symbol.dispose]();
    const precision = await offeredPrecision(device, wanted);
    const open = (this.#open = { device, choice, precision });
    void device.lost.then((reason) => {
      if (this.#open?.device !== device) return;
      this.#open = undefined; // what comes next opens the CPU
      device[Symbol.dispose]();
      this.#onLost(reason);
    });
    return open;
  }

  async load({ files, map }: Given): Promise<LoadedBook> {
    this.#book = new SessionBook(await readFiles(files, map));
    return this.#book.info;
  }

  async terms(): Promise<readonly string[]> {
    return columnTerms();
  }

  async price(choice: RunChoice, { signal, tell }: CallContext): Promise<RunEnd> {
    const book = this.#loaded();
    const { device, precision, choice: chosen } = await this.#device();
    const started = performance.now();
    const places = book.stalePlaces;
    const total = places.length;
    let done = 0;
    tell({ kind: "progress", done, total });
    // The first prices of a small book are shown before its last ones are there.
    const batchSize = total <= SMALL ? { batchSize: FIRST } : {};
    const { accuracy, ...rest } = choice;
    const aim = accuracy === undefined ? undefined : { relative: accuracy };
    const options = { ...rest, accuracy: aim, ...batchSize, device, precision: chosen.precision, signal };
    const trades = places.map((place) => book.parsed[place]);
    for await (const results of priceTrades(trades, book.context, options)) {
      signal.throwIfAborted();
      const block = places.slice(done, done + results.length);
      results.forEach((result, i) => {
        book.results[block[i]] = atPlace(result, done + i, block[i]);
        book.stale[block[i]] = false;
      });
      const rows = rowBlock(block, book.parsed, book.results);
      tell({ kind: "rows", block: rows }, [rows.places.buffer, rows.numbers.buffer, rows.status.buffer]);
      done += results.length;
      tell({ kind: "progress", done, total });
    }
    const seconds = (performance.now() - started) / 1000;
    return { seconds, precision, device: { backend: device.backend, name: device.name }, ...summaryOf(book) };
  }

  async edit(edit: Edit): Promise<Edited> {
    const book = this.#loaded();
    const inverse = book.edit(edit);
    return { book: book.info, inverse, stale: Int32Array.from(book.stalePlaces) };
  }

  async changes(): Promise<readonly Change[]> {
    return this.#loaded().changes;
  }

  async detail(place: number): Promise<TradeDetail> {
    const book = this.#loaded();
    const parsed = book.parsed[place];
    return {
      place,
      input: book.entries[place],
      result: book.results[place],
      isStale: book.stale[place],
      currency: parsed.ok ? currencyOf(parsed.trade) : undefined,
      product: parsed.ok ? describeTrade(parsed.trade) : "–",
    };
  }

  async fit(underlying: string): Promise<Fit | undefined> {
    const { [underlying]: found } = this.#loaded().market.calibration.underlyings;
    if (found === undefined) return undefined;
    const { calibrationCharts } = await import("../../src/output/charts/index.ts");
    const [chart] = calibrationCharts({ underlyings: { [underlying]: found }, rates: {} });
    const { model, status, rmse, worst, warnings } = found;
    return { model, status, rmse, worst, warnings, chart };
  }

  async schema(): Promise<unknown> {
    return bookJsonSchema();
  }

  async export(format: ExportFormat): Promise<ExportedFile> {
    const { exportResults } = await import("./export.ts");
    const book = format === "book" ? this.#loaded() : this.#priced();
    return exportResults(format, book, (await this.#device()).device);
  }

  async picture(request: PictureRequest, { signal }: CallContext): Promise<readonly Chart[]> {
    const [book, open] = [this.#loaded(), await this.#device()];
    const { drawPicture } = await import("./pictures.ts");
    return drawPicture(request, book, new Pricer(open.device, open.choice.precision, book.context, signal));
  }

  async explain(request: ExplainRequest, { signal }: CallContext): Promise<ExplainAnswer> {
    const [book, { device, choice }] = [this.#loaded(), await this.#device()];
    const { explainChange } = await import("./explain.ts");
    return explainChange(request, book, { device, precision: choice.precision, signal });
  }

  async scenarios(file: GivenFile): Promise<LoadedBook> {
    const book = this.#loaded();
    book.table = await readScenarios(file, book);
    book.stale.fill(true);
    return book.info;
  }

  async risk(request: RiskRequest): Promise<RiskAnswer> {
    const { riskOf } = await import("./risk.ts");
    return riskOf(request, this.#priced());
  }

  async play(request: PlayRequest, { signal }: CallContext): Promise<PlayResult> {
    const { device } = await this.#device();
    const { play } = await import("./play.ts");
    return play(request, device, signal);
  }

  async #device(): Promise<Open> {
    if (this.#open !== undefined) return this.#open;
    // Several calls may be the first one that needs a device.
    this.#usual ??= this.#openAs({ backend: "cpu", precision: "f64" }).finally(() => (this.#usual = undefined));
    return this.#usual;
  }

  #loaded(): SessionBook {
    if (this.#book === undefined) throw new SpecError("there is no book yet: open one first");
    return this.#book;
  }

  /** The book when each trade has a result of it as it stands. @throws SpecError */
  #priced(): SessionBook {
    const book = this.#loaded();
    const { length } = book.stalePlaces;
    if (length > 0)
      throw new SpecError(`${length} of ${book.parsed.length} trades are not priced as they stand: price them first`);
    return book;
  }
}

/** Trades that are priced again count from 0: their errors name the place in the book. */
function atPlace(result: TradeResult, counted: number, place: number): TradeResult {
  if (result.status !== "error" || counted === place) return result;
  const moved = (text: string): string => text.replace(`trades[${counted}]`, `trades[${place}]`);
  const { path, message } = result.error;
  return {
    ...result,
    error: { ...result.error, message: moved(message), ...(path === undefined ? {} : { path: moved(path) }) },
  };
}

function summaryOf({ parsed, results }: SessionBook): Pick<RunEnd, "priced" | "failed" | "totals" | "warnings"> {
  const totals = new Totals();
  const warnings = new Map<string, { text: string; count: number; first: string }>();
  results.forEach((result, i) => {
    if (result === undefined) return;
    totals.add(tradeOf(parsed[i]), result);
    if (result.status === "error") return;
    for (const text of result.warnings) {
      const known = warnings.get(text);
      if (known === undefined) warnings.set(text, { text, count: 1, first: result.id });
      else known.count++;
    }
  });
  const { priced, failed } = totals;
  return { priced, failed, totals: totals.totals, warnings: [...warnings.values()] };
}

function tradeOf(parsed: ParsedTrade): Extract<ParsedTrade, { ok: true }>["trade"] | undefined {
  return parsed.ok ? parsed.trade : undefined;
}
