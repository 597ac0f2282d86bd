/** What requests say. */
import * as z from "zod";
import { METHOD_NAMES } from "../book/index.ts";
import { BookError } from "../errors.ts";

export const optionsSchema = z.strictObject({
  greeks: z.enum(["all", "grid", "none"]).optional(),
  accuracy: z.number().min(1e-8).max(1e-3).optional(),
  method: z.enum(METHOD_NAMES).optional(),
});

/** A request that has been read as far as it is the same for every book. */
export interface ReadBody {
  /** The book without trades and options. */
  readonly header: Readonly<Record<string, unknown>>;
  /** The hash of a market that is kept. */
  readonly market: string | undefined;
  readonly trades: readonly unknown[];
  readonly options: { greeks?: "all" | "grid" | "none"; accuracy?: number; method?: (typeof METHOD_NAMES)[number] };
  /** Results as NDJSON. */
  readonly streams: boolean;
}

/** @throws BookError what is no request */
export function readRequest(body: unknown, kind: "price" | "market"): ReadBody {
  if (typeof body !== "object" || body === null || Array.isArray(body))
    throw new BookError("", "expected a book as JSON, an object with asOf, market and trades");
  const { options = {}, stream = false, trades, ...header } = body as Readonly<Record<string, unknown>>;
  const { data, error } = optionsSchema.safeParse(options);
  if (error !== undefined) throw new BookError(["options", ...error.issues[0].path].join("."), error.issues[0].message);
  if (typeof stream !== "boolean") throw new BookError("stream", "expected true or false");
  const kept = header["market"];
  const market = typeof kept === "string" ? kept : undefined;
  if (kind === "market" && market !== undefined)
    throw new BookError("market", "expected a market, got the hash of one");
  if (kind === "price" && !Array.isArray(trades)) throw new BookError("trades", "expected a list of trades");
  if (market !== undefined && Object.keys(header).length > 1)
    throw new BookError(
      "market",
      "a market that is kept comes with its asOf and scenarios: send the hash and trades alone",
    );
  const plain = Object.fromEntries(Object.entries(data).filter(([, value]) => value !== undefined));
  return { header, market, trades: Array.isArray(trades) ? trades : [], options: plain, streams: stream };
}
