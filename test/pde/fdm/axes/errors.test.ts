/** What is said of problems on several axes that cannot be solved. */
import { afterAll, describe, expect, test } from "vitest";
import { createCpuDevice } from "../../../../src/device/cpu/index.ts";
import { solveAxes } from "./device-cases.ts";
import type { Problem } from "./problems.ts";

const device = createCpuDevice({ threads: 1 });
afterAll(() => {
  expect(device.liveBuffers).toBe(0);
  device[Symbol.dispose]();
});

const base: Problem = {
  axes: { S: { from: 0, to: 200, nodes: 21 }, v: { from: 0, to: 1, nodes: 11 } },
  parameters: { K: 100, r: 0.03 },
  equation: { SS: "0.5*v*S^2", Sv: "-0.2*v*S", vv: "0.1*v", S: "r*S", v: "0.04 - v", V: "-r" },
  terminal: "max(K - S, 0)",
  expiry: 1,
  steps: 4,
};

describe("a problem that is refused, with its place", () => {
  const cases: readonly (readonly [string, object, RegExp])[] = [
    [
      "both orders of a mixed derivative",
      { equation: { ...(base.equation as object), vS: "v" } },
      /^equation\.vS: the same derivative as Sv; write their sum as Sv/,
    ],
    ["an unknown coefficient", { equation: { Sw: "v" } }, /^equation\.Sw: unknown; the coefficients are .*Sv, vS/],
    [
      "an unknown coefficient of a function",
      { equation: ({ S }: Record<string, number>) => ({ Sx: S }) },
      /^equation\.Sx: unknown; the coefficients on the axes S, v are/,
    ],
    ["a scheme of one axis", { scheme: { kind: "crank-nicolson" } }, /^scheme\.kind: "crank-nicolson" is for one axis/],
    ["θ below ¼", { scheme: { kind: "hundsdorfer-verwer", theta: 0.1 } }, /^scheme\.theta: got 0\.1, expected ¼ … 1/],
    [
      "a method of one axis",
      { conditions: [{ kind: "exercise", payoff: "K - S", method: "penalty" }] },
      /^conditions\[0\]\.method: "penalty" is for one axis/,
    ],
    [
      "a jump along no axis",
      { conditions: [{ kind: "jump", axis: "x", at: [0.5], to: "S" }] },
      /^conditions\[0\]\.axis: got "x", expected "S" or "v"/,
    ],
    ["a boundary of no axis", { boundaries: { x: {} } }, /^boundaries\.x: there is no such axis; expected S or v/],
    [
      "an axis that is called like a coefficient",
      { axes: { S: { from: 0, to: 1 }, SS: { from: 0, to: 1 } } },
      /^axes\.SS: SS names a coefficient of the equation/,
    ],
    [
      "an even number of nodes with an error estimate",
      { errorEstimate: true, axes: { ...base.axes, v: { from: 0, to: 1, nodes: 20 } } },
      /^axes\.v\.nodes: got 20, expected an odd number/,
    ],
    [
      "more nodes than there is memory for",
      { axes: { S: { from: 0, to: 1, nodes: 30_001 }, v: { from: 0, to: 1, nodes: 30_001 } } },
      /^axes: 30001 × 30001 nodes take \d+ MiB on CPU.*take fewer nodes on S, v/,
    ],
  ];
  test.each(cases)("%s", async (_, more, message) => {
    await expect(solveAxes({ ...base, ...more }, device)).rejects.toThrow(message);
  });
});

describe("an entry that fails, while the others are solved", () => {
  const cases: readonly (readonly [string, Partial<Problem>, RegExp])[] = [
    [
      "a diffusion that is negative",
      { equation: { SS: "0.5*x*S^2", vv: "0.1*v" } },
      /^equation: SS = -\d.* at S = .*, v = .*, t = .*; expected second derivatives whose matrix is positive semi-definite/,
    ],
    [
      "a correlation above 1",
      { equation: { SS: "0.5*v*S^2", Sv: "(2 - x)*v*S", vv: "0.5*v" } },
      /^equation: SS = .*Sv = .*vv = .* Sv² ≤ 4·SS·vv/,
    ],
    ["a coefficient that is no number", { equation: { SS: "1", vv: "log(x)" } }, /^equation\.vv: NaN at S = 0, v = 0/],
    ["terminal values", { terminal: "log(x)" }, /^terminal: NaN at S = 0, v = 0, t = 1, K = 100, r = 0\.03, x = -1/],
    [
      "what exercise pays",
      { conditions: [{ kind: "exercise", payoff: "log(x)" }] },
      /^conditions\[0\]\.payoff: NaN at S = /,
    ],
    [
      "a boundary",
      { boundaries: { v: { high: { kind: "dirichlet", value: "log(x)" } } } },
      /^boundaries\.v\.high\.value: NaN at S = .*, v = 1/,
    ],
    [
      "a jump",
      { conditions: [{ kind: "jump", axis: "v", at: [0.5], to: "log(x)" }] },
      /^conditions\[0\]\.to: NaN at S = .*t = 0\.5/,
    ],
    [
      "the edge of a knock-out on a date",
      { conditions: [{ kind: "knock-out", axis: "v", below: "0.01*log(x)", at: [0.5] }] },
      /^conditions\[0\]\.below: NaN at S = .*t = 0\.5/,
    ],
  ];
  test.each(cases)("%s", async (_, more, message) => {
    const { entries } = await solveAxes({ ...base, parameters: { ...base.parameters, x: [1, -1] }, ...more }, device);
    expect(entries[0].error).toBeUndefined();
    expect(entries[0].at({ S: 100, v: 0.1 }).value).toBeTypeOf("number");
    expect(entries[1].error?.message).toMatch(message);
    expect(() => entries[1].at({ S: 100, v: 0.1 })).toThrow(message);
  });

  test.each([
    ["XY", 2],
    ["XZ", 4],
    ["YZ", 8],
  ] as const)("a correlation above 1 on three axes, %s", async (mixed, largest) => {
    const unit = { from: 0, to: 1, nodes: 7 };
    const { entries } = await solveAxes(
      {
        ...base,
        axes: { X: unit, Y: unit, Z: unit },
        parameters: { x: [1, 1.01] },
        // The three products of two diagonal entries differ, so that each bound belongs to its own pair.
        equation: { XX: 0.5, YY: 2, ZZ: 8, [mixed]: `${largest}*x` },
        terminal: "X",
      },
      device,
    );
    expect(entries[0].error).toBeUndefined();
    expect(entries[1].error?.message).toContain("expected second derivatives whose matrix is positive semi-definite");
  });

  test("a loop that does not end", async () => {
    const { entries } = await solveAxes(
      {
        ...base,
        parameters: { x: [1, 0] },
        equation: ({ S, v, x }) => {
          let y = v;
          while (y < 2) y += x;
          return { SS: 0.5 * v * S * S, vv: 0.1 * v, V: -0.001 * y };
        },
        terminal: "S",
      },
      device,
    );
    expect(entries[0].error).toBeUndefined();
    expect(entries[1].error?.message).toMatch(/this loop does not end/);
  });
});

test("a point that cannot be read", async () => {
  const [entry] = (await solveAxes(base, device)).entries;
  expect(() => entry.at({ S: 100 })).toThrow(/^at\.v: got nothing, expected a number/);
  expect(() => entry.at({ S: 100, v: 2 })).toThrow(/^at\.v: 2 is outside the axis, 0 to 1/);
  expect(() => entry.at({ S: 100, v: 0.1, w: 1 })).toThrow(/^at\.w: unknown/);
});
