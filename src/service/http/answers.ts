/** JSON Schemas of the service's responses. Responses may contain further fields. */
import { FIGURE_FIELDS, type FieldType, RESULT_FIELDS, RESULT_NUMBERS } from "../../book/index.ts";

type Json = Readonly<Record<string, unknown>>;

const text = { type: "string" };
const number = { type: "number" };
const nullable = { type: ["number", "null"] };
const count = { type: "integer", minimum: 0 };

/** The schema of an object with required fields and optional ones. */
function object(properties: Json, optional: Json = {}): Json {
  return { type: "object", required: Object.keys(properties), properties: { ...properties, ...optional } };
}

const list = (items: Json): Json => ({ type: "array", items });
const device = object({ backend: { enum: ["cpu", "webgpu", "cuda"] }, name: text });
const error = object({ code: text, message: text }, { path: text });
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

/** Fields that a result may lack: those of trades that could not be read, or were. */
const OPTIONAL: readonly string[] = ["underlying", "currency", "quantity", "seed", "precision", "backend", "error"];
const FIELDS: Readonly<Record<Exclude<FieldType, "json">, Json>> = {
  text: { type: ["string", "null"] },
  number: nullable,
  texts: list(text),
};

/** Numbers of a result, each of which may be missing. */
const NUMBERS = Object.fromEntries(RESULT_NUMBERS.map((name) => [name, nullable]));
const fxDelta: Json = { type: "object", additionalProperties: nullable };

/** A figure that is an object or a list has further fields. */
function resultSchema(optional: Json): Json {
  const schemas = Object.entries({ ...RESULT_FIELDS, ...FIGURE_FIELDS }).flatMap(([name, type]) => {
    if (name === "status") return [[name, { enum: ["ok", "error"] }] as const];
    if (name === "error") return [[name, error] as const];
    return type === "json" ? [] : [[name, FIELDS[type]] as const];
  });
  const isOptional = (name: string): boolean => OPTIONAL.includes(name) || Object.hasOwn(FIGURE_FIELDS, name);
  return object(Object.fromEntries(schemas.filter(([name]) => !isOptional(name))), {
    ...Object.fromEntries(schemas.filter(([name]) => isOptional(name))),
    ...optional,
  });
}

/** Returns the JSON schemas of the service's responses, by their names in the OpenAPI document. */
export function responseSchemas(): Record<string, Json> {
  const reference = (name: string): Json => ({ $ref: `#/components/schemas/${name}` });
  const totals = {
    currency: text,
    trades: count,
    value: number,
    cashDelta: nullable,
    theta: nullable,
    rho: nullable,
    errorEstimate: number,
    underlyings: list(reference("UnderlyingTotals")),
  };
  const buckets = list(reference("Bucket"));
  const missing = { ...numbers, description: "how many trades each sum leaves out" };
  return {
    Result: resultSchema({ buckets, reporting: reference("ReportingFigures") }),
    ReportingFigures: object({ currency: text, rate: number, ...NUMBERS, fxDelta }),
    ReportingTotals: object({ ...totals, fxDelta }, { missing }),
    ReportingGroupTotals: object({ group, ...totals, fxDelta }, { missing }),
    Totals: object(totals, { missing, buckets }),
    GroupTotals: object({ group, ...totals }, { missing, buckets }),
    Bucket: object({
      factor: { enum: ["spot", "volatility", "rate", "dividend", "spread"] },
      of: text,
      at: {
        anyOf: [
          { type: ["string", "number", "null"] },
          object({ expiry: { type: ["string", "number"] }, strike: number }),
        ],
      },
      value: number,
      errorEstimate: nullable,
    }),
    UnderlyingTotals: object(
      { underlying: text, trades: count, delta: nullable, gamma: nullable, vega: nullable, cashDelta: nullable },
      { missing: numbers },
    ),
    PriceResponse: object(
      {
        asOf: text,
        market: { ...text, description: "its hash: send it instead of the market while it is kept" },
        device,
        priced: count,
        failed: count,
        totals: list(reference("Totals")),
        results: list(reference("Result")),
      },
      {
        groups: list(reference("GroupTotals")),
        reporting: reference("ReportingTotals"),
        reportingGroups: list(reference("ReportingGroupTotals")),
      },
    ),
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
