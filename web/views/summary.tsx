/** What the book is worth, and how the run went. */
import type { VNode } from "preact";
import type { CurrencyTotals } from "../../src/book/index.ts";
import { incompleteSumNotes, largestUnderlyings } from "../../src/output/formats/index.ts";
import { decimalsWithin, fixed, plusMinus, significant } from "../state/numbers.ts";
import { cancel, price, run } from "../state/store.ts";

export function Summary(): VNode {
  const state = run.value;
  const end = state.state === "done" ? state.end : undefined;
  return (
    <section class="summary" aria-label="Totals" aria-busy={state.state === "running"}>
      {end?.totals.map((total) => (
        <Total key={total.currency} total={total} />
      ))}
      <div class="card">
        <h2>{state.state === "running" ? "Pricing" : "Run"}</h2>
        <RunState />
      </div>
    </section>
  );
}

const RISKS = [
  ["cashDelta", "cash delta", "delta × spot"],
  ["theta", "theta", "a year"],
  ["rho", "rho", "a point"],
] as const;

function Total({ total }: { readonly total: CurrencyTotals }): VNode {
  return (
    <div class="card total">
      <h2>Value, {total.currency}</h2>
      <p class="figure" data-testid="total">
        <span class={(total.value ?? 0) < 0 ? "negative" : undefined}>
          {total.value === null ? "–" : fixed(total.value, decimalsWithin(total.value, total.errorEstimate))}
        </span>
        <small title="The sum of the error estimates of all trades">
          {" "}
          {plusMinus(total.value ?? Number.NaN, total.errorEstimate)}
        </small>
      </p>
      <dl>
        {RISKS.map(([name, title, unit]) => (
          <div key={name} title={`${title}: ${total.currency}, ${unit}`}>
            <dt>{title}</dt>
            <dd>{significant(name === "rho" ? scaled(total[name]) : total[name])}</dd>
          </div>
        ))}
      </dl>
      <Underlyings total={total} />
      {incompleteSumNotes([total]).map((note) => (
        <p key={note} class="about">
          {note}
        </p>
      ))}
    </div>
  );
}

/** A sensitivity per 1.00 for a move by a point. */
const scaled = (value: number | null): number | null => (value === null ? null : 0.01 * value);

const MAX_UNDERLYINGS = 12;
const TITLES = { delta: "per 1 of spot", gamma: "per 1 of spot²", vega: "a point" };

function Underlyings({ total }: { readonly total: CurrencyTotals }): VNode | null {
  if (total.underlyings.length === 0) return null;
  const { shown, hidden } = largestUnderlyings([total], MAX_UNDERLYINGS);
  return (
    <table class="underlyings">
      <thead>
        <tr>
          <th>underlying</th>
          <th title={TITLES.delta}>delta</th>
          <th title={TITLES.gamma}>gamma</th>
          <th title={TITLES.vega}>vega</th>
        </tr>
      </thead>
      <tbody>
        {shown[0].underlyings.map(({ underlying, delta, gamma, vega }) => (
          <tr key={underlying}>
            <th scope="row">{underlying}</th>
            {[delta, gamma, scaled(vega)].map((value, i) => (
              <td key={i}>{significant(value)}</td>
            ))}
          </tr>
        ))}
      </tbody>
      {hidden > 0 && <caption>{count(hidden)} more underlyings are not shown</caption>}
    </table>
  );
}

export function RunState(): VNode {
  const state = run.value;
  switch (state.state) {
    case "none":
      return <p class="figure">…</p>;
    case "running": {
      const { done, total } = state;
      return (
        <>
          <p class="figure">{total === 0 ? "…" : `${count(done)} of ${count(total)}`}</p>
          <progress aria-label="Trades priced" {...(total === 0 ? {} : { value: done, max: total })} />
          <button type="button" class="button" onClick={cancel}>
            Cancel
          </button>
        </>
      );
    }
    case "cancelled":
    case "failed":
      return (
        <>
          <p class="figure">{state.state === "cancelled" ? "Cancelled" : "Not priced"}</p>
          <button type="button" class="button" onClick={() => void price()}>
            Price the rest
          </button>
        </>
      );
    case "done": {
      const { priced, failed, seconds, device, precision } = state.end;
      return (
        <>
          <p class="figure" data-testid="seconds">
            {seconds < 0.1 ? `${(1000 * seconds).toFixed(0)} ms` : `${seconds.toFixed(2)} s`}
          </p>
          <p class="about">
            {count(priced)} {priced === 1 ? "trade" : "trades"} priced
            {failed > 0 && <b class="bad">, {count(failed)} not priced</b>}
            <br />
            {device.name}, {PRECISION[precision]}
          </p>
        </>
      );
    }
    default:
      return state satisfies never;
  }
}

const PRECISION = { f64: "double precision", f32: "single precision", f32x2: "emulated double precision" };

export function count(value: number): string {
  return value.toLocaleString("en-US");
}
