/** The service as OpenAPI describes it, from the schema by which books are read. */
import * as z from "zod";
import { bookJsonSchema } from "../book/index.ts";
import { optionsSchema } from "./requests.ts";
import type { ServiceLimits } from "./server.ts";

type Json = Readonly<Record<string, unknown>>;

const answer = (description: string, schema: Json): Json => ({
  description,
  content: { "application/json": { schema } },
});

/** The document of /openapi.json. */
export function openApi(version: string, { bytes, trades, seconds, requests }: ServiceLimits): Json {
  const { $schema: _, properties, ...book } = bookJsonSchema();
  const { market, trades: list, ...others } = properties as Readonly<Record<string, Json>>;
  const options = z.toJSONSchema(optionsSchema, { io: "input" });
  const hash = { type: "string", description: "the hash of a market that PUT /market has kept" };
  const failed = answer("what is wrong", { $ref: "#/components/schemas/Error" });
  const errors = { "400": failed, "401": failed, "404": failed, "408": failed, "413": failed, "429": failed };
  const body = (name: string): Json => ({
    required: true,
    content: { "application/json": { schema: { $ref: `#/components/schemas/${name}` } } },
  });
  const about = `A request has at most ${trades} trades and ${bytes} bytes and may take ${seconds} s; ${requests} at once.`;
  return {
    openapi: "3.1.0",
    info: { title: "Feynkac", version, description: about },
    paths: {
      "/price": {
        post: {
          operationId: "price",
          requestBody: body("PriceRequest"),
          responses: { "200": answer("results, or NDJSON of them with stream: true", { type: "object" }), ...errors },
        },
      },
      "/market": {
        put: {
          operationId: "keepMarket",
          requestBody: body("MarketRequest"),
          responses: {
            "200": answer("its hash", { type: "object", properties: { market: hash }, required: ["market"] }),
            ...errors,
          },
        },
      },
    },
    components: {
      securitySchemes: { token: { type: "http", scheme: "bearer" } },
      schemas: {
        PriceRequest: {
          ...book,
          title: "A book, or a market that is kept and trades",
          required: ["trades", "market"],
          properties: {
            ...others,
            market: { anyOf: [market, hash] },
            trades: list,
            options,
            stream: { type: "boolean" },
          },
        },
        MarketRequest: { ...book, required: ["asOf", "market"], properties: { ...others, market } },
        Error: {
          type: "object",
          properties: {
            error: { type: "object", properties: { code: { type: "string" }, message: { type: "string" } } },
          },
        },
      },
    },
  };
}
