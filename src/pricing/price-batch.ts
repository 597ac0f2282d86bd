import type { TradeResult } from "../book/index.ts";
import { pricedBatch } from "./batch.ts";

/** Prices trades together (`pricedBatch`), with their risk by bucket where settings ask for it. */
export async function priceBatch(...given: Parameters<typeof pricedBatch>): Promise<TradeResult[]> {
  const [, , { greeks, buckets = false }] = given;
  if (greeks !== "all" || !buckets) return (await pricedBatch(...given)).results;
  // Most books do without.
  const { priceBuckets } = await import("./buckets.ts");
  return priceBuckets(...given);
}
