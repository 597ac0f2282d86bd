/** The products that a trade may be, in words, with what a new one begins with. */
import { blank, closest, type FormContext, type Plain, type Schema } from "./schema.ts";

/** A kind of trade: its form in the book's schema, by the field that only it requires. */
interface Product {
  readonly mark: string;
  readonly label: string;
  /** Fields that a new trade of this kind has beside those that its form requires. */
  readonly starts?: Plain;
  /** Optional fields that it begins with as well. */
  readonly has?: readonly string[];
}

const SCRIPT = {
  script: {
    events: [
      { on: "observations", do: "if (worst >= 1) { pay(100 * (1 + coupon)); stop() }" },
      { on: "maturity", do: "pay(100 * min(worst, 1))" },
    ],
  },
  data: { observations: ["1Y"], coupon: 0.08, maturity: "2Y" },
};

const BOND = { maturity: "5Y", notional: 100, coupon: 0.03, frequency: 1 };

const INDEX_OF: Readonly<Record<string, string>> = {
  EUR: "ESTR",
  USD: "SOFR",
  GBP: "SONIA",
  CHF: "SARON",
  JPY: "TONA",
};
const PRODUCTS: Readonly<Record<string, readonly Product[]>> = {
  "On underlyings": [
    { mark: "payoff", label: "Option on one underlying", starts: { exercise: "european" }, has: ["strike"] },
    {
      mark: "underlyings",
      label: "Option on several underlyings",
      starts: { payoff: { basket: "call", weights: [0.5, 0.5] } },
      has: ["strike"],
    },
    { mark: "forward", label: "Forward" },
    { mark: "convertible", label: "Convertible bond" },
    { mark: "script", label: "Script", starts: SCRIPT, has: ["underlying", "initial"] },
  ],
  "On rates": [
    { mark: "swap", label: "Swap" },
    { mark: "fra", label: "Forward rate agreement" },
    { mark: "note", label: "Note" },
    { mark: "bond", label: "Bond, callable or puttable", starts: { bond: BOND } },
    { mark: "cashflows", label: "Bond by its cash flows" },
    { mark: "on", label: "Option on a bond", starts: { expiry: "1Y", strike: 100, on: { bond: BOND } } },
    { mark: "cap", label: "Cap", has: ["currency"] },
    { mark: "floor", label: "Floor", has: ["currency"] },
    { mark: "swaption", label: "Swaption", starts: { expiry: "1Y" }, has: ["currency"] },
  ],
  "Currencies and credit": [
    { mark: "fxForward", label: "Currency forward" },
    { mark: "cds", label: "Credit default swap" },
  ],
};

/** A product with its form. */
export interface ProductForm extends Product {
  readonly schema: Schema;
}

/** Every product in its group, with its form in the schema of a trade. */
export function productForms(trade: Schema): Readonly<Record<string, readonly ProductForm[]>> {
  const forms = (trade.anyOf ?? []).flatMap((form) => form.anyOf ?? [form]);
  const marks = Object.values(PRODUCTS)
    .flat()
    .map(({ mark }) => mark);
  // A swaption has a swap, an option on several underlyings a payoff: the form with the fewest marks is the kind's own.
  const marksOf = ({ required = [] }: Schema): string[] => required.filter((key) => marks.includes(key));
  const schemaOf = (mark: string): Schema[] => {
    const [own] = forms.filter((form) => marksOf(form).includes(mark)).sort((a, b) => rank(a, mark) - rank(b, mark));
    return own === undefined ? [] : [own];
  };
  const rank = (form: Schema, mark: string): number =>
    10 * Number(mark === "payoff" && form.required?.includes("underlying") !== true) + marksOf(form).length;
  return Object.fromEntries(
    Object.entries(PRODUCTS).map(([group, products]) => [
      group,
      products.flatMap((product) => schemaOf(product.mark).map((schema) => ({ ...product, schema }))),
    ]),
  );
}

export function productOf(forms: Readonly<Record<string, readonly ProductForm[]>>, trade: unknown): ProductForm {
  return closest(Object.values(forms).flat(), ({ schema }) => schema, trade);
}

/** Which fields a trade keeps when it becomes another product. */
const KEPT = ["id", "underlying", "currency", "quantity", "tags"];

/** A trade of another kind, with what both have in common. */
export function asProduct(product: ProductForm, trade: Plain, context: FormContext): Plain {
  const { schema, starts, mark, has = [] } = product;
  const optional = has.map((key) => [key, blank(schema.properties?.[key] ?? {}, context, key)]);
  const start = { ...(blank(schema, context) as Plain), ...Object.fromEntries(optional), ...starts };
  const kept = Object.entries(trade).filter(
    ([key]) => KEPT.includes(key) && Object.hasOwn(schema.properties ?? {}, key),
  );
  return { ...start, ...legsOf(mark, context), ...Object.fromEntries(kept) };
}

/** Legs that have a rate: their form requires none, because it may be an index. */
function legsOf(mark: string, { currency = "EUR" }: FormContext): Plain {
  const terms = { end: "5Y", notional: 1_000_000 };
  if (mark === "note") return { note: { ...terms, rate: 0.03, currency } };
  if (mark !== "swap") return {};
  return { swap: { ...terms, pay: { rate: 0.03 }, receive: { index: INDEX_OF[currency] ?? "ESTR" } } };
}

/** What a form may choose from in the market of a book. */
export function contextOf(header: Plain, trade: Plain): FormContext {
  const market = (header["market"] ?? {}) as Readonly<Record<string, Readonly<Record<string, Plain>> | undefined>>;
  const named = (part: string): string[] => Object.keys(market[part] ?? {});
  const [underlyings, currencies] = [named("underlyings"), named("rates")];
  const of = [trade["underlyings"]].flat()[0] ?? trade["underlying"];
  const underlying = market["underlyings"]?.[String(of)] ?? market["underlyings"]?.[underlyings[0]];
  const currency = (trade["currency"] ?? underlying?.["currency"] ?? currencies[0]) as string | undefined;
  const spot = (underlying?.["spot"] as number | undefined) ?? 100;
  const strike = Number(spot.toPrecision(3));
  // Options on several underlyings need one currency.
  const alike = underlyings.filter((name) => market["underlyings"]?.[name]?.["currency"] === currency);
  return {
    names: {
      underlying: underlyings,
      currency: currencies,
      curve: named("curves"),
      pair: named("fx"),
      script: named("scripts"),
    },
    currency,
    asOf: String(header["asOf"]),
    starts: {
      strike,
      forward: strike,
      initial: spot,
      level: Number((1.2 * spot).toPrecision(3)),
      notional: 1_000_000,
      ratio: 1,
      underlyings: (alike.length > 1 ? alike : underlyings).slice(0, 2),
      frequency: 1,
      coupon: 0.03,
      end: "5Y",
      maturity: "5Y",
      index: INDEX_OF[currency ?? ""],
    },
  };
}
