/** Pictures of the selected trade, of the book and of the methods. */
import { useSignal } from "@preact/signals";
import type { VNode } from "preact";
import { useEffect } from "preact/hooks";
import type { Chart } from "../../src/output/charts/index.ts";
import type { PictureName } from "../engine/pictures.ts";
import { book, engine, problemOf, rows, run, selected } from "../state/store.ts";
import { ChartView } from "./chart.tsx";
import { Message } from "./message.tsx";

interface Choice {
  readonly name: PictureName;
  readonly title: string;
  readonly about: string;
  readonly of: "trade" | "book" | "method";
}

const PICTURES: readonly Choice[] = [
  { name: "profile", title: "Value and Greeks", about: "against the spot, today and later", of: "trade" },
  { name: "surface", title: "Over spot and time", about: "value, delta, gamma, vega", of: "trade" },
  { name: "exercise", title: "Exercise boundary", about: "where an American option is exercised", of: "trade" },
  { name: "volatility", title: "Volatility", about: "implied and local, of the underlying", of: "trade" },
  { name: "paths", title: "Simulated paths", about: "where the spot may go", of: "trade" },
  { name: "scenarios", title: "Scenarios", about: "gain or loss as markets move", of: "book" },
  { name: "errors", title: "Errors", about: "against their estimates", of: "book" },
  { name: "quantization", title: "Quantization grid", about: "points for a normal law", of: "method" },
  { name: "sparse-grid", title: "Sparse grid", about: "few points for many dimensions", of: "method" },
];

export function PicturesView(): VNode {
  const chosen = useSignal<PictureName>("profile");
  const charts = useSignal<readonly Chart[] | undefined>(undefined);
  const failed = useSignal<string | undefined>(undefined);
  /** What the charts, or the reason why there are none, are of. */
  const drawn = useSignal<{ readonly name: PictureName; readonly place: number; readonly of: unknown } | undefined>(
    undefined,
  );
  const { of } = PICTURES.find(({ name }) => name === chosen.value) as Choice;
  const place = selected.value ?? 0;
  const isReady = run.value.state === "done";
  const isOfMethod = of === "method";
  const wanted = { name: chosen.value, place: isOfMethod ? 0 : place, of: isOfMethod ? undefined : book.value };
  const is = drawn.value;
  const isStale =
    is?.name !== wanted.name || is.place !== wanted.place || is.of !== wanted.of || (!isReady && !isOfMethod);
  useEffect(() => {
    if (!isReady && !isOfMethod) return undefined;
    const controller = new AbortController();
    failed.value = undefined;
    engine.call("picture", { name: chosen.value, place }, { signal: controller.signal }).then(
      (answer) => {
        charts.value = answer;
        drawn.value = wanted;
      },
      (error: unknown) => {
        if (controller.signal.aborted) return;
        failed.value = problemOf("", error).message;
        charts.value = undefined;
        drawn.value = wanted;
      },
    );
    return () => controller.abort();
  }, [chosen.value, place, isReady, book.value]);
  return (
    <div class="with-list">
      <nav aria-label="Pictures">
        <h1 class="hidden">Pictures</h1>
        <ul class="choices">
          {PICTURES.map(({ name, title, about }) => (
            <li key={name}>
              <button type="button" aria-pressed={chosen.value === name} onClick={() => (chosen.value = name)}>
                <b>{title}</b>
                <small>{about}</small>
              </button>
            </li>
          ))}
        </ul>
      </nav>
      <section aria-label="Picture" aria-busy={isStale}>
        {of === "trade" && <TradePicker />}
        {failed.value !== undefined && <Message className="notice" text={failed.value} />}
        {charts.value === undefined && isStale && <p class="about waiting">Computing …</p>}
        <div class={isStale ? "charts stale" : "charts"}>
          {charts.value?.map((chart) => (
            <ChartView key={chart.title} chart={chart} />
          ))}
        </div>
      </section>
    </div>
  );
}

const LISTED = 500;

function TradePicker(): VNode {
  const all = rows.value;
  const count = Math.min(all.length, LISTED);
  return (
    <label class="pick">
      <span>Trade</span>
      <select
        value={String(selected.value ?? 0)}
        onChange={(event) => (selected.value = Number(event.currentTarget.value))}
      >
        {Array.from({ length: count }, (_, row) => (
          <option key={row} value={String(row)}>
            {all.text("id", row)} – {all.text("product", row)}, {all.text("underlying", row)}
          </option>
        ))}
      </select>
    </label>
  );
}
