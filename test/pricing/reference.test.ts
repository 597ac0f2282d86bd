import { describe, expect, it } from "vitest";
import { PlainDevice } from "../support/plain-device.ts";
import { GREEKS, greekErrors } from "./greek-errors.ts";
import { referenceTrades } from "./reference.ts";
import { allowedError, HONEST, NOT_FOR_MESHES, referenceErrors } from "./reference-errors.ts";

const all = referenceTrades();

describe.each(["auto", "fdm"] as const)("reference cases, method %s, f64", (method) => {
  const covered = all.filter(({ trade }) => method === "auto" || trade.id !== NOT_FOR_MESHES);
  const errors = () => referenceErrors(new PlainDevice(), { precision: "f64", method }, covered);

  it("are within their own tolerance or 2e-5 of spot", async () => {
    for (const [i, { id, value, error }] of (await errors()).entries()) {
      expect(error, `${id}: ${value}, expected ${covered[i].expected["price"]}`).toBeLessThanOrEqual(
        allowedError(covered[i], "f64"),
      );
    }
  });

  it("have honest error estimates, in at least 95 %", async () => {
    const all = await errors();
    expect(all.filter(({ honest }) => honest).length / all.length).toBeGreaterThanOrEqual(HONEST);
  });
});

describe.each(["auto", "fdm"] as const)("Greeks of the European reference cases, method %s", (method) => {
  it.each(GREEKS)("%s", async (greek) => {
    const errors = await greekErrors(new PlainDevice(), { precision: "f64", method });
    const mine = errors.filter(({ name }) => name === greek);
    expect(mine.length).toBeGreaterThan(10);
    for (const { id, value, expected, error, allowed } of mine)
      expect(error, `${id} ${greek}: ${value}, expected ${expected}`).toBeLessThanOrEqual(allowed);
  });
});
