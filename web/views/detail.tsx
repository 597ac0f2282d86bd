/** The selected trade: its results in full, its terms to edit, and the market to edit. */
import { useSignal } from "@preact/signals";
import type { VNode } from "preact";
import { useEffect } from "preact/hooks";
import type { TradeResult } from "../../src/book/index.ts";
import type { Chart } from "../../src/output/charts/index.ts";
import { book, detail, editBook, engine, loadSchema, rows, run, schema, tab } from "../state/store.ts";
import { decimalsWithin, fixed, plusMinus, significant } from "../state/numbers.ts";
import { ChartView } from "./chart.tsx";
import { MarketForm } from "./market.tsx";
import { Message } from "./message.tsx";
import { Form } from "../form/form.tsx";
import { asProduct, contextOf, productForms, productOf } from "../form/products.ts";
import type { Plain } from "../form/schema.ts";

const PARTS = ["Result", "Terms", "Market"] as const;
type Part = (typeof PARTS)[number];

export function Detail(): VNode | null {
  const part = useSignal<Part>("Result");
  if (detail.value === undefined || book.value === undefined) return null;
  const { result, product } = detail.value;
  return (
    <aside class="detail" aria-label="Selected trade">
      <h2>{result?.id ?? "Trade"}</h2>
      <p class="about">{product}</p>
      <div class="parts" role="group" aria-label="What to show">
        {PARTS.map((name) => (
          <button key={name} type="button" aria-pressed={part.value === name} onClick={() => (part.value = name)}>
            {name}
          </button>
        ))}
      </div>
      {part.value === "Result" && <Result />}
      {part.value === "Terms" && <Terms />}
      {part.value === "Market" && <MarketForm />}
    </aside>
  );
}

const NAMES = ["value", "delta", "gamma", "theta", "vega", "rho"] as const;
const LABELS = {
  value: ["Value of one unit", 1],
  delta: ["Delta, per 1 of spot", 1],
  gamma: ["Gamma, per 1 of spot²", 1],
  theta: ["Theta, a year", 1],
  vega: ["Vega, a point", 0.01],
  rho: ["Rho, a point", 0.01],
} as const;

function Result(): VNode | null {
  if (detail.value === undefined) return null;
  const { result, isStale, currency = "" } = detail.value;
  return (
    <>
      {result?.status === "error" && <Message className="bad" text={result.error.message} />}
      {result?.status === "ok" && (
        <dl class={isStale ? "numbers stale" : "numbers"} data-testid="result">
          {NAMES.map((name) => (
            <div key={name}>
              <dt>{LABELS[name][0]}</dt>
              <dd title={result[name] === null ? undefined : String(result[name] * LABELS[name][1])}>
                {name === "value" ? within(result) : significant(scaled(result[name], LABELS[name][1]))}{" "}
                <small>{currency}</small>
              </dd>
            </div>
          ))}
          <Several result={result} />
        </dl>
      )}
      {result?.warnings.map((text) => (
        <Message key={text} className="warning" text={text} />
      ))}
      {result?.status === "ok" && <SmallPicture />}
    </>
  );
}

const scaled = (value: number | null, by: number): number | null => (value === null ? null : value * by);

function within({ value, errorEstimate }: Extract<TradeResult, { status: "ok" }>): string {
  return `${fixed(value, decimalsWithin(value, errorEstimate))} ${plusMinus(value, errorEstimate)}`.trim();
}

/** Sensitivities to each of several underlyings. */
function Several({ result }: { readonly result: Extract<TradeResult, { status: "ok" }> }): VNode {
  const { sensitivities = {}, method, seed } = result;
  return (
    <>
      {Object.entries(sensitivities).map(([name, { delta, vega }]) => (
        <div key={name}>
          <dt>{name}: delta, vega a point</dt>
          <dd>
            {significant(delta ?? null)}, {significant(scaled(vega ?? null, 0.01))}
          </dd>
        </div>
      ))}
      <div>
        <dt>Method</dt>
        <dd>
          {method}
          {seed !== undefined && <small> seed {seed}</small>}
        </dd>
      </div>
    </>
  );
}

/** After an edit the picture waits until nothing else comes. Milliseconds. */
const QUIET = 250;

function SmallPicture(): VNode | null {
  const charts = useSignal<readonly Chart[]>([]);
  const isStale = useSignal(true);
  const { place, result } = detail.value ?? { place: 0, result: undefined };
  useEffect(() => {
    isStale.value = true;
    if (run.value.state !== "done" || tab.value !== "Book") return undefined;
    const controller = new AbortController();
    const timer = setTimeout(() => {
      engine.call("picture", { name: "profile", place }, { signal: controller.signal }).then(
        (drawn) => {
          charts.value = drawn.slice(0, 2);
          isStale.value = false;
        },
        () => {
          if (!controller.signal.aborted) charts.value = [];
        },
      );
    }, QUIET);
    return () => {
      clearTimeout(timer);
      controller.abort();
    };
  }, [place, result, run.value.state, tab.value]);
  return (
    <div class={isStale.value ? "charts one stale" : "charts one"}>
      {charts.value.map((chart) => (
        <ChartView key={chart.title} chart={chart} height={230} />
      ))}
    </div>
  );
}

function Terms(): VNode | null {
  useEffect(() => void loadSchema(), []);
  const trades = schema.value?.properties?.["trades"]?.items;
  if (detail.value === undefined || book.value === undefined) return null;
  if (trades === undefined) return <p class="about">Reading …</p>;
  const { place, result } = detail.value;
  const input = (detail.value.input ?? {}) as Plain;
  const forms = productForms(trades);
  const product = productOf(forms, input);
  const context = contextOf(book.value.header, input);
  const change = (value: unknown): void => void editBook({ kind: "trade", place, value });
  const error = result?.status === "error" ? result.error : undefined;
  const path = (error?.path ?? "").replace(/^(?:trades\[\d+\]\.?|(?:line|row) \d+(?:: )?)/, "");
  return (
    <div class="terms">
      <label class="form-row">
        <span class="name">Product</span>
        <select
          class="what"
          value={product.mark}
          onChange={({ currentTarget: { value: mark } }) => {
            const chosen = Object.values(forms)
              .flat()
              .find((form) => form.mark === mark);
            if (chosen !== undefined) change(asProduct(chosen, input, context));
          }}
        >
          {Object.entries(forms).map(([group, products]) => (
            <optgroup key={group} label={group}>
              {products.map(({ mark, label }) => (
                <option key={mark} value={mark}>
                  {label}
                </option>
              ))}
            </optgroup>
          ))}
        </select>
      </label>
      <Form
        key={`${place} ${product.mark}`}
        schema={product.schema}
        name="trade"
        value={input}
        context={context}
        error={error === undefined ? undefined : { path, message: withoutPath(error.message, error.path) }}
        onChange={change}
      />
      {product.mark === "payoff" && <Strike input={input} place={place} />}
      <button
        type="button"
        class="button"
        onClick={() => void editBook({ kind: "remove", place })}
        disabled={rows.value.length < 2}
      >
        Remove this trade
      </button>
    </div>
  );
}

/** The message of an error without the place that it begins with: it stands there. */
function withoutPath(message: string, path: string | undefined): string {
  return path !== undefined && message.startsWith(`${path}: `) ? message.slice(path.length + 2) : message;
}

/** A slider for what is asked most: what if the strike were another? */
function Strike({ input, place }: { readonly input: unknown; readonly place: number }): VNode | null {
  const { strike } = input as { readonly strike?: unknown };
  const start = useSignal(0);
  useEffect(() => {
    start.value = typeof strike === "number" ? strike : 0;
  }, [place]);
  if (typeof strike !== "number" || start.value <= 0) return null;
  return (
    <label class="slider">
      <span>Strike {strike.toLocaleString("en-US", { maximumSignificantDigits: 6 })}</span>
      <input
        type="range"
        min={0.6 * start.value}
        max={1.4 * start.value}
        step={start.value / 200}
        value={strike}
        onInput={(event) => {
          const moved = Number(event.currentTarget.valueAsNumber.toPrecision(6));
          void editBook({ kind: "trade", place, value: { ...(input as object), strike: moved } });
        }}
      />
    </label>
  );
}
