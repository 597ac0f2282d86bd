/**
 * A trade's result does not depend on its company. `npm run check:properties -- --factors company` compares more books,
 * of all models and products.
 */
import { afterAll, expect, it } from "vitest";
import { createCpuDevice } from "../../src/device/cpu/index.ts";
import { checkCompany } from "../../tools/properties/company/check.ts";
import { counted } from "../support/extent.ts";

const BOOKS = counted("FEYNKAC_BOOKS_OF_COMPANY", 1, 10);

const device = createCpuDevice({ threads: 2 });
afterAll(() => device[Symbol.dispose]());

it("has the same bits alone as in a book of trades that are nearly the same", { timeout: 600_000 }, async () => {
  const { priced, differences } = await checkCompany(device, { books: BOOKS, seed: 1, extent: "quick" });
  expect(differences).toEqual([]);
  expect(priced).toBeGreaterThan(10 * BOOKS);
});
