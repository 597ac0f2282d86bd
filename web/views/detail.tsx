/** The selected trade: its results in full, its warnings, and its terms. */
import type { VNode } from "preact";
import { detail } from "../state/store.ts";

const NAMES = ["value", "delta", "gamma", "theta", "vega", "rho", "errorEstimate"] as const;
const LABELS = {
  value: "Value",
  delta: "Delta, per 1 of spot",
  gamma: "Gamma, per 1 of spot²",
  theta: "Theta, a year",
  vega: "Vega, per 1.00 of volatility",
  rho: "Rho, per 1.00 of rate",
  errorEstimate: "Error estimate",
} as const;

export function Detail(): VNode | null {
  const { value } = detail;
  if (value === undefined) return null;
  const { result, product, currency = "" } = value;
  return (
    <aside class="detail" aria-label="Selected trade">
      <h2>{result?.id ?? "Trade"}</h2>
      <p class="about">{product}</p>
      {result?.status === "error" && <pre class="bad">{result.error.message}</pre>}
      {result?.status === "ok" && (
        <dl class="numbers">
          {NAMES.map((name) => (
            <div key={name}>
              <dt>{LABELS[name]}</dt>
              <dd>
                {result[name] === null ? "–" : String(result[name])} <small>{currency}</small>
              </dd>
            </div>
          ))}
        </dl>
      )}
      {result?.warnings.map((text) => (
        <p key={text} class="warning">
          {text}
        </p>
      ))}
    </aside>
  );
}
