/**
 * The types of a problem know its names. What must not compile is marked; `npm run typecheck` would find a mark that is
 * not needed.
 */
import { expect, test } from "vitest";
import { type EquationProblem, solve } from "../../../../src/pde/fdm/index.ts";

/** Keeps what TypeScript infers of a problem, without solving it. */
const inferred = <const A extends string, const P extends string = never>(
  problem: EquationProblem<A, P>,
): EquationProblem<A, P> => problem;

const axes = { r: { from: 0, to: 1 } };

test("names of the axis and the parameters reach the functions", () => {
  const problem = inferred({
    axes,
    parameters: { kappa: [1, 2], theta: 0.05 },
    equation: ({ t, r, kappa, theta }) => ({ rr: 0.01 * r, r: kappa * (theta - r) * (1 + t), V: -r }),
    terminal: 1,
    expiry: "1 + theta",
  });
  expect(Object.keys(problem.axes)).toEqual(["r"]);
});

test("mistakes are found before anything runs", async () => {
  inferred({
    axes,
    // @ts-expect-error: sigma is no parameter
    equation: ({ r, sigma }) => ({ rr: sigma * r }),
    terminal: 1,
    expiry: 1,
  });
  inferred({
    axes,
    // @ts-expect-error: the second derivative is rr
    equation: ({ r }) => ({ SS: r }),
    terminal: 1,
    expiry: 1,
  });
  inferred({
    axes,
    equation: { rr: 1 },
    terminal: 1,
    expiry: 1,
    // @ts-expect-error: there is no axis S
    boundaries: { S: { low: { kind: "linear" } } },
  });
  inferred({
    axes,
    equation: { rr: 1 },
    terminal: 1,
    expiry: 1,
    // @ts-expect-error: a value is missing
    conditions: [{ kind: "exercise" }],
  });
  const { entries } = await solve({ axes, equation: { V: -1 }, terminal: 1, expiry: 1 });
  expect(entries[0].at(0.5).value).toBeCloseTo(Math.exp(-1), 4);
});
