/** The OpenAPI description of the service, generated from the schemas of books. */
import * as z from "zod";
import { bookJsonSchema } from "../../book/index.ts";
import { ARROW_STREAM_TYPE } from "../../output/formats/index.ts";
import { responseSchemas } from "./answers.ts";
import { explainOptionsSchema, priceOptionsSchema } from "./requests.ts";

type Json = Readonly<Record<string, unknown>>;

const reference = (name: string): Json => ({ $ref: `#/components/schemas/${name}` });

const answer = (description: string, name: string): Json => ({
  description,
  content: { "application/json": { schema: reference(name) } },
});

/** Returns the OpenAPI document of the service. */
export function openApi(version: string, limits: ServiceLimits): Json {
  const { bytes, trades, seconds, requests } = limits;
  const { "application/json": result } = answer("results", "PriceResponse")["content"] as Record<string, Json>;
  const lines = { "application/x-ndjson": { schema: reference("Result") } };
  const about = `A request has at most ${trades} trades and ${bytes} bytes and may take ${seconds} s; ${requests} at once.`;
  return {
    openapi: "3.1.0",
    info: { title: "Feynkac", version, description: about },
    security: [{ token: [] }, {}],
    paths: {
      "/price": {
        post: operation("price", "PriceRequest", {
          description:
            "results; with stream: true one result a line, as they come; " +
            `a stream of Arrow instead, if the header Accept says ${ARROW_STREAM_TYPE}`,
          content: { "application/json": result, ...lines },
        }),
      },
      "/explain": {
        post: operation("explain", "ExplainRequest", answer("why values have changed", "ExplainResponse")),
      },
      "/market": { put: operation("keepMarket", "MarketRequest", answer("its hash", "MarketResponse")) },
      "/health": {
        get: { operationId: "health", security: [{}], responses: { "200": answer("it answers", "Health") } },
      },
    },
    components: {
      securitySchemes: { token: { type: "http", scheme: "bearer" } },
      schemas: { ...requestSchemas(), ...responseSchemas() },
    },
  };
}

function operation(operationId: string, request: string, response: Json): Json {
  const failed = answer("what is wrong", "Error");
  const errors = Object.fromEntries(["400", "401", "404", "408", "413", "429"].map((status) => [status, failed]));
  const requestBody = { required: true, content: { "application/json": { schema: reference(request) } } };
  return { operationId, requestBody, responses: { "200": response, ...errors } };
}

function requestSchemas(): Record<string, Json> {
  const { $schema: _, properties, ...book } = bookJsonSchema();
  const { $schema: __, market, trades, ...others } = properties as Readonly<Record<string, Json>>;
  const hash = { type: "string", description: "the hash of a market that PUT /market has kept" };
  const either = { anyOf: [market, hash] };
  const { asOf, scenarios, method, seed } = others;
  const options = (schema: z.ZodType): Json => {
    const { $schema: ___, ...plain } = z.toJSONSchema(schema, { io: "input" });
    return plain;
  };
  const written = { asOf, scenarios, method, seed, market: either };
  return {
    Trade: (trades as { readonly items: Json }).items,
    PriceRequest: {
      ...book,
      title: "A book, or a market that is kept and trades",
      required: ["market", "trades"],
      properties: {
        ...written,
        trades: { type: "array", items: reference("Trade") },
        options: options(priceOptionsSchema),
        stream: { type: "boolean" },
        summary: { type: "boolean", description: "a stream ends with a line of totals, an object with a summary" },
      },
    },
    MarketRequest: {
      ...book,
      title: "A book without trades",
      required: ["asOf", "market"],
      properties: { ...others, market },
    },
    ExplainRequest: {
      type: "object",
      title: "Two books; the later one may leave out its trades, if they are those of the earlier one",
      additionalProperties: false,
      required: ["before", "after"],
      properties: {
        before: reference("WrittenBook"),
        after: reference("WrittenBook"),
        options: options(explainOptionsSchema),
      },
    },
    WrittenBook: {
      ...book,
      title: "A book, or a market that is kept and trades",
      required: ["market"],
      properties: { ...written, trades: { type: "array", items: reference("Trade") } },
    },
  };
}

/** The limits of the HTTP service. */
export interface ServiceLimits {
  /** The maximum size of a request's body in bytes. */
  readonly bytes: number;
  /** The maximum number of trades of a request. */
  readonly trades: number;
  /** The maximum duration of a request in seconds. */
  readonly seconds: number;
  /** The maximum number of concurrent requests. */
  readonly requests: number;
  /** The finest accuracy that a request may ask for. */
  readonly accuracy: number;
  /** The maximum number of cached markets. */
  readonly markets: number;
}
