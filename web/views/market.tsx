/** The market of the book: spots, volatilities and rates to edit; only trades that depend on them are priced again. */
import type { VNode } from "preact";
import { NumberInput } from "../form/inputs.tsx";
import { Quotes } from "./fits.tsx";
import { book, editBook } from "../state/store.ts";

type Plain = Readonly<Record<string, unknown>>;

export function MarketForm(): VNode | null {
  if (book.value === undefined) return null;
  const market = book.value.header["market"] as {
    readonly rates: Plain;
    readonly underlyings: Readonly<Record<string, Plain>>;
  };
  const edit = (path: readonly string[], value: number): void =>
    void editBook({ kind: "header", path: ["market", ...path], value });
  return (
    <div class="market">
      {Object.entries(market.underlyings).map(([name, underlying]) => (
        <section key={name} aria-label={name}>
          <h3>
            {name} <small>{String(underlying["currency"])}</small>
          </h3>
          <Quote
            label="Spot"
            unit={String(underlying["currency"])}
            above={0}
            value={underlying["spot"]}
            onChange={(value) => edit(["underlyings", name, "spot"], value)}
          />
          {hasQuotes(underlying["volatility"]) ? (
            <Quotes name={name} volatility={underlying["volatility"]} />
          ) : (
            <Quote
              label="Volatility"
              unit="% per √year"
              scale={100}
              minimum={0}
              value={underlying["volatility"]}
              onChange={(value) => edit(["underlyings", name, "volatility"], value)}
            />
          )}
        </section>
      ))}
      <section aria-label="Rates">
        <h3>Rates</h3>
        {Object.entries(market.rates).map(([name, rate]) => (
          <Quote
            key={name}
            label={name}
            unit="% a year"
            scale={100}
            value={rate}
            onChange={(value) => edit(["rates", name], value)}
          />
        ))}
      </section>
    </div>
  );
}

const hasQuotes = (volatility: unknown): volatility is Plain =>
  typeof volatility === "object" && volatility !== null && Object.hasOwn(volatility, "quotes");

interface QuoteProps {
  readonly label: string;
  readonly unit: string;
  readonly scale?: number;
  readonly above?: number;
  readonly minimum?: number;
  readonly value: unknown;
  readonly onChange: (value: number) => void;
}

function Quote({ label, unit, scale = 1, above, minimum, value, onChange }: QuoteProps): VNode {
  if (typeof value !== "number")
    return (
      <p class="form-row">
        <span class="name">{label}</span>
        <span class="about">{formOf(value)}</span>
      </p>
    );
  return (
    <div class="form-row">
      <span class="name">{label}</span>
      <div class="what">
        <NumberInput {...{ label, unit, scale, value, onChange, above, minimum }} />
      </div>
    </div>
  );
}

/** What is no single number is edited in the book's file. */
function formOf(value: unknown): string {
  if (value === undefined) return "given by the trades";
  if (Array.isArray(value)) return `a curve of ${value.length} dates`;
  return Object.keys(value as object)
    .map((name) => name.replace(/([A-Z])/g, " $1").toLowerCase())
    .join(", ");
}
