/** The quotes of one underlying: the state of their fit, the smile as a picture, and the quotes as a table to edit. */
import { useSignal } from "@preact/signals";
import type { VNode } from "preact";
import { useEffect } from "preact/hooks";
import type { Fit } from "../engine/protocol.ts";
import { NumberInput } from "../form/inputs.tsx";
import type { Plain } from "../form/schema.ts";
import { book, editBook, ask, run } from "../state/store.ts";
import { significant } from "../state/numbers.ts";
import { ChartView } from "./chart.tsx";
import { Message } from "./message.tsx";

export interface QuotesProps {
  readonly name: string;
  /** The underlying's volatility, as written: `{ quotes, fit }`. */
  readonly volatility: Plain;
}

export function Quotes({ name, volatility }: QuotesProps): VNode {
  const fit = useSignal<Fit | undefined>(undefined);
  const isStale = useSignal(true);
  useEffect(() => {
    isStale.value = true;
    if (run.value.state !== "done") return;
    void ask("The fit cannot be shown", "fit", name).then((found) => {
      fit.value = found;
      isStale.value = false;
    });
  }, [name, book.value, run.value.state]);
  return (
    <>
      {fit.value !== undefined && (
        <div class={isStale.value ? "stale" : undefined} data-testid="fit">
          <p class={fit.value.status === "converged" ? "about" : "bad"}>{stateOf(fit.value)}</p>
          {fit.value.warnings.map((text) => (
            <Message key={text} className="warning" text={text} />
          ))}
          <ChartView chart={fit.value.chart} height={260} />
        </div>
      )}
      <details>
        <summary>Quotes of {name} as a table</summary>
        <QuoteTable name={name} quotes={volatility["quotes"]} />
      </details>
    </>
  );
}

function stateOf({ model, status, rmse, worst }: Fit): string {
  if (rmse === null) return model === "none" ? "Quotes without a fit" : `${model}: ${status}`;
  const error = `${significant(100 * rmse, 2)} points on average`;
  const most = worst === null ? "" : `, ${significant(100 * worst.error, 2)} at ${worst.strike}, ${worst.expiry}`;
  return `${model}: ${status}; quotes are missed by ${error}${most}`;
}

/** A cell of the table: an implied volatility, and where it is in the volatility. */
interface Cell {
  readonly expiry: unknown;
  readonly strike: number;
  readonly implied: number;
  readonly path: readonly (string | number)[];
}

/** The quoted implied volatilities, whichever of its two forms the market has. */
function cellsOf(quotes: unknown): readonly Cell[] {
  if (Array.isArray(quotes))
    return (quotes as readonly Plain[]).flatMap(({ expiry, strike, implied }, i) =>
      typeof implied === "number" ? [{ expiry, strike: Number(strike), implied, path: ["quotes", i, "implied"] }] : [],
    );
  const { expiries, strikes, implied } = quotes as {
    readonly expiries: readonly unknown[];
    readonly strikes: readonly number[];
    readonly implied: readonly (readonly (number | null)[])[];
  };
  return expiries.flatMap((expiry, t) =>
    strikes.flatMap((strike, k) => {
      const value = implied[t]?.[k] ?? null;
      return value === null ? [] : [{ expiry, strike, implied: value, path: ["quotes", "implied", t, k] }];
    }),
  );
}

function QuoteTable({ name, quotes }: { readonly name: string; readonly quotes: unknown }): VNode {
  const cells = cellsOf(quotes);
  if (cells.length === 0) return <p class="about">These quotes are prices: they are edited in the book's file.</p>;
  const expiries = [...new Set(cells.map(({ expiry }) => String(expiry)))];
  const strikes = [...new Set(cells.map(({ strike }) => strike))].sort((a, b) => a - b);
  return (
    <div class="quotes" tabIndex={0}>
      <table>
        <thead>
          <tr>
            <th scope="col">strike</th>
            {expiries.map((expiry) => (
              <th key={expiry} scope="col">
                {expiry}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {strikes.map((strike) => (
            <tr key={strike}>
              <th scope="row">{strike.toLocaleString("en-US")}</th>
              {expiries.map((expiry) => (
                <td key={expiry}>
                  {cells
                    .filter((cell) => cell.strike === strike && String(cell.expiry) === expiry)
                    .map(({ path, implied }) => (
                      <NumberInput
                        key={path.join(" ")}
                        label={`${name}, ${expiry}, strike ${strike}: implied volatility in percent`}
                        scale={100}
                        above={0}
                        maximum={100}
                        value={implied}
                        onChange={(value) =>
                          void editBook({
                            kind: "header",
                            path: ["market", "underlyings", name, "volatility", ...path],
                            value,
                          })
                        }
                      />
                    ))}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
        <caption>Implied volatilities, %</caption>
      </table>
    </div>
  );
}
