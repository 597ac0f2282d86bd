// Type-checked against the packed declarations, strictly and with no other types installed.
import type { openDevice, parseBook, priceBook } from "feynkac";
import type { Device } from "feynkac/device";
import { type EquationProblem, solve } from "feynkac/fdm";
import type { Kernel } from "feynkac/kernel";

export type Uses = [Device, Kernel, typeof openDevice, typeof parseBook, typeof priceBook];

export const problem: EquationProblem<"S", "r"> = {
  axes: { S: { from: 0, to: 200 } },
  parameters: { r: 0.05 },
  equation: ({ S, r }) => ({ SS: 0.02 * S * S, S: r * S, V: -r }),
  terminal: "max(S - 100, 0)",
  expiry: 1,
};
export const values = async (): Promise<Float64Array> => (await solve(problem)).entries[0].values;
