/** JSON Schemas of the service's responses. Responses may contain further fields. */

type Json = Readonly<Record<string, unknown>>;

const text = { type: "string" };
const number = { type: "number" };
const nullable = { type: ["number", "null"] };
const count = { type: "integer", minimum: 0 };
const sensitivities = { delta: nullable, gamma: nullable, theta: nullable, vega: nullable, rho: nullable };

/** The schema of an object with required fields and optional ones. */
function object(properties: Json, optional: Json = {}): Json {
  return { type: "object", required: Object.keys(properties), properties: { ...properties, ...optional } };
}

const list = (items: Json): Json => ({ type: "array", items });
const device = object({ backend: { enum: ["cpu", "webgpu", "cuda"] }, name: text });
const error = object({ code: text, message: text });
const numbers: Json = { type: "object", additionalProperties: number };
const tag = { type: ["string", "number"] };
const tags: Json = { type: "object", additionalProperties: tag };
const group: Json = { type: "object", additionalProperties: { type: [...tag.type, "null"] } };
const explainTotals = {
  currency: text,
  trades: count,
  before: number,
  after: number,
  cash: number,
  change: number,
  terms: numbers,
  unexplained: number,
  trading: number,
  errorEstimate: number,
};

/** Returns the JSON schemas of the service's responses, by their names in the OpenAPI document. */
export function answerSchemas(): Record<string, Json> {
  const reference = (name: string): Json => ({ $ref: `#/components/schemas/${name}` });
  return {
    Result: object(
      {
        id: { type: ["string", "null"] },
        status: { enum: ["ok", "error"] },
        value: nullable,
        ...sensitivities,
        errorEstimate: nullable,
        method: { type: ["string", "null"] },
        warnings: list(text),
      },
      {
        underlying: { type: ["string", "null"] },
        currency: { type: ["string", "null"] },
        quantity: nullable,
        precision: { type: ["string", "null"] },
        backend: { type: ["string", "null"] },
        error,
      },
    ),
    Totals: object(
      {
        currency: text,
        trades: count,
        value: number,
        cashDelta: nullable,
        theta: nullable,
        rho: nullable,
        errorEstimate: number,
        underlyings: list(reference("UnderlyingTotals")),
      },
      { missing: { ...numbers, description: "how many trades each sum leaves out" } },
    ),
    UnderlyingTotals: object(
      { underlying: text, trades: count, delta: nullable, gamma: nullable, vega: nullable, cashDelta: nullable },
      { missing: numbers },
    ),
    PriceResponse: object({
      asOf: text,
      market: { ...text, description: "its hash: send it instead of the market while it is kept" },
      device,
      priced: count,
      failed: count,
      totals: list(reference("Totals")),
      results: list(reference("Result")),
    }),
    ExplainedTrade: object(
      {
        id: { type: ["string", "null"] },
        status: { enum: ["explained", "matured", "new", "gone", "changed", "error"] },
        before: nullable,
        after: nullable,
        cash: nullable,
        change: nullable,
        terms: { anyOf: [numbers, { type: "null" }] },
        unexplained: nullable,
        errorEstimate: nullable,
        warnings: list(text),
      },
      { underlying: text, currency: text, tags, smile: list(reference("SmileTerm")), reason: text, error },
    ),
    SmileTerm: object({
      underlying: text,
      expiry: { type: ["number", "string"] },
      level: number,
      slope: number,
      curvature: number,
      moves: object({ level: number, slope: number, curvature: number }),
    }),
    ExplainTotals: object(explainTotals, { smile: list(reference("SmileTerm")) }),
    ExplainGroupTotals: object({ group, ...explainTotals }, { smile: list(reference("SmileTerm")) }),
    ExplainResponse: object(
      {
        method: { enum: ["taylor", "revaluation"] },
        asOf: object({ before: text, after: text }),
        years: number,
        device,
        explained: count,
        failed: count,
        totals: list(reference("ExplainTotals")),
        results: list(reference("ExplainedTrade")),
      },
      { groups: list(reference("ExplainGroupTotals")) },
    ),
    MarketResponse: object({ market: text }),
    Health: object({ status: text }),
    Error: object({ error }),
  };
}
