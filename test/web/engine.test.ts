/** The page's engine without a browser: what outlives a worker that does not answer a cancel, and what is saved. */
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Engine } from "../../web/engine/client.ts";
import type { Edit, Event, FromWorker, GivenFile, ToWorker } from "../../web/engine/protocol.ts";
import { serve } from "../../web/engine/serve.ts";
import { EngineSession } from "../../web/engine/session.ts";
import { linesOf, Rows } from "../../web/state/rows.ts";
import { market, trade } from "./books.ts";

/** A worker in this thread, which can be made deaf: it answers nothing then, as while a kernel runs. */
class LocalWorker extends EventTarget {
  isDeaf = false;
  isTerminated = false;
  readonly #hear = serve(new EngineSession(() => {}), (data) => this.#say(data));

  postMessage(message: ToWorker): void {
    if (!this.isDeaf) this.#hear(message);
  }

  terminate(): void {
    this.isTerminated = true;
  }

  #say(data: FromWorker): void {
    if (!this.isDeaf && !this.isTerminated) this.dispatchEvent(new MessageEvent("message", { data }));
  }
}

let workers: LocalWorker[] = [];
let engine: Engine;
let restarts = 0;
beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout"] });
  workers = [];
  restarts = 0;
  engine = new Engine(() => {
    const worker = new LocalWorker();
    workers.push(worker);
    return worker as Partial<Worker> as Worker;
  });
  engine.onRestart = () => void restarts++;
});
afterEach(() => {
  vi.useRealTimers();
});

const file = (name: string, content: string): GivenFile => ({ name, file: new Blob([content]) });
const book = { ...market, trades: [trade("A", 90), trade("B", 95)] };
const load = () => engine.call("load", { files: [file("book.json", JSON.stringify(book))] });
const price = (signal?: AbortSignal) =>
  engine.call("price", { greeks: "none" }, signal === undefined ? {} : { signal });
const edit = (place: number, strike: number): Edit => ({ kind: "trade", place, value: trade("AB"[place], strike) });
const saved = async (): Promise<{ trades: { strike: number }[] }> =>
  JSON.parse(await (await engine.call("export", "book")).bytes.text()) as never;

/** Cancels a call to which the worker is deaf, and waits until it is replaced. */
async function cancelled(): Promise<void> {
  const controller = new AbortController();
  const run = price(controller.signal);
  workers[0].isDeaf = true;
  controller.abort(new DOMException("cancelled", "AbortError"));
  // The caller does not wait for the worker.
  await expect(run).rejects.toThrow("cancelled");
}

test("a new worker has the book with all edits, and goes on with the calls that are wanted", async () => {
  await load();
  await engine.call("edit", edit(0, 91));
  await engine.call("edit", edit(0, 92));
  await engine.call("edit", { kind: "header", path: ["market", "underlyings", "ACME", "spot"], value: 101 });
  const expected = await price();
  await cancelled();
  // Neither an edit nor a run that was asked for meanwhile is lost.
  const edited = engine.call("edit", edit(1, 96));
  const run = price();
  expect(restarts).toBe(0);
  vi.advanceTimersByTime(60_000);
  expect([restarts, workers.length, workers[0].isTerminated]).toEqual([1, 2, true]);
  expect((await edited).inverse).toEqual(edit(1, 95));
  const end = await run;
  expect(end.priced).toBe(2);
  expect(end.totals[0].value).not.toBe(expected.totals[0].value);
  expect((await saved()).trades.map(({ strike }) => strike)).toEqual([92, 96]);
  // What differs is told from the book as it was loaded.
  expect((await engine.call("changes", undefined)).map(({ of, path, after }) => `${of} ${path} ${after}`)).toEqual([
    "market underlyings.ACME.spot 101",
    "A strike 92",
    "B strike 96",
  ]);
  await engine.call("edit", edit(1, 95));
  expect((await price()).totals).toEqual(expected.totals);
});

test("a worker that answers a cancel is kept", async () => {
  await load();
  const controller = new AbortController();
  const run = price(controller.signal);
  controller.abort(new DOMException("cancelled", "AbortError"));
  await expect(run).rejects.toThrow("cancelled");
  await price();
  vi.advanceTimersByTime(60_000);
  expect([restarts, workers.length]).toEqual([0, 1]);
});

test("an edit that is refused is not repeated, and scenarios from a table are", async () => {
  await load();
  await expect(engine.call("edit", { kind: "header", path: ["asOf"], value: "never" })).rejects.toThrow("never");
  const named = await engine.call("scenarios", file("two.csv", "name,spot.ACME\nup,0.1\ndown,-0.1\n"));
  expect(named.named).toBe(2);
  await cancelled();
  vi.advanceTimersByTime(60_000);
  await price();
  expect((await engine.call("risk", { confidence: 0.9, by: "trade" })).parts).toHaveLength(2);
});

test("a worker that fails ends its calls with the reason, and the next call has the book again", async () => {
  await load();
  const run = price();
  workers[0].dispatchEvent(Object.assign(new Event("error"), { message: "out of memory" }));
  await expect(run).rejects.toThrow("out of memory");
  expect((await price()).priced).toBe(2);
  expect(restarts).toBe(1);
});

test("results are only saved when all trades are priced as they stand", async () => {
  await load();
  await expect(engine.call("export", "csv")).rejects.toThrow("2 of 2 trades are not priced");
  await price();
  await engine.call("edit", edit(0, 91));
  await expect(engine.call("export", "csv")).rejects.toThrow("1 of 2 trades are not priced");
  await expect(engine.call("risk", { confidence: 0.9, by: "trade" })).rejects.toThrow();
});

test("tags are saved in a column each, as the command line does", async () => {
  const tagged = [
    { ...trade("A", 90), tags: { desk: "Paris", trader: "x" } },
    { ...trade("B", 95), tags: { desk: "London" } },
  ];
  await engine.call("load", { files: [file("book.json", JSON.stringify({ ...market, trades: tagged }))] });
  await price();
  const [head, ...rows] = (await (await engine.call("export", "csv")).bytes.text()).trim().split(/\r?\n/);
  const columns = head.split(",");
  const cells = (name: string): string[] => rows.map((row) => row.split(",")[columns.indexOf(name)]);
  expect([cells("tag.desk"), cells("tag.trader")]).toEqual([
    ["Paris", "London"],
    ["x", ""],
  ]);
  expect(columns).not.toContain("tags");
});

test("a group of two currencies has the sums of each", async () => {
  const { ACME } = market.market.underlyings;
  const given = {
    ...market,
    market: { rates: { EUR: 0.03, USD: 0.04 }, underlyings: { ACME, BETA: { ...ACME, currency: "USD" } } },
    trades: ["ACME", "BETA", "ACME"].map((underlying, i) => ({
      ...trade(`T${i}`, 90 + i),
      underlying,
      quantity: i + 1,
      tags: { desk: "Paris" },
    })),
  };
  await engine.call("load", { files: [file("book.json", JSON.stringify(given))] });
  const rows = new Rows(3);
  const onEvent = (event: Event): void => {
    if (event.kind === "rows") rows.put(event.block);
  };
  const { totals } = await engine.call("price", { greeks: "none" }, { onEvent });
  const view = { filter: "", only: "all", sort: "place", descending: false, closed: new Set(["Paris"]) } as const;
  const [head, ...currencies] = linesOf(rows, { ...view, group: "tag:desk" });
  expect(head).toMatchObject({ kind: "group", name: "Paris", count: 3, sums: undefined });
  expect(currencies).toMatchObject([
    { kind: "currency", count: 2, sums: { currency: "EUR", sums: { value: totals[0].value } } },
    { kind: "currency", count: 1, sums: { currency: "USD", sums: { value: totals[1].value } } },
  ]);
});
