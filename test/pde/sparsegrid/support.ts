/** Problems that several tests solve. */
import type { Device } from "../../../src/device/index.ts";
import { solveOnSparseGrid } from "../../../src/pde/sparsegrid/index.ts";
import { readFixture } from "../../support/fixtures.ts";

export interface Case {
  readonly id: string;
  readonly product: string;
  readonly params: Readonly<Record<string, never>>;
  readonly expected: Readonly<Record<string, never>>;
  readonly tolerance: { readonly abs: number; readonly rel: number };
}

export const casesOf = (family: string): readonly Case[] =>
  (readFixture(`reference/${family}.json`) as { readonly cases: readonly Case[] }).cases;

export const axesNamed = (count: number): readonly string[] => "ABCDEFGHIJ".slice(0, count).split("");

/** "max(A,max(B,C))" or the like. */
export const nested = (of: "max" | "min", names: readonly string[]): string =>
  names.length === 1 ? names[0] : `${of}(${names[0]},${nested(of, names.slice(1))})`;

const each = <T>(names: readonly string[], of: (name: string, k: number) => T): Record<string, T> =>
  Object.fromEntries(names.map((name, k) => [name, of(name, k)]));

/** An option on several assets that follow correlated geometric Brownian motions. */
export interface Assets {
  readonly spots: readonly number[];
  readonly volatilities: readonly number[];
  readonly yields?: readonly number[];
  readonly rate: number;
  readonly maturity: number;
  readonly correlations?: readonly (readonly number[])[];
  readonly terminal: string;
  /** From and to of each axis. */
  readonly ends: readonly (readonly [number, number])[];
  /** An up-and-out barrier at the upper ends. */
  readonly knockedOut?: boolean;
}

type Settings = Partial<Parameters<typeof solveOnSparseGrid<string, string>>[0]> & {
  readonly axis?: Readonly<Record<string, unknown>>;
};

export function problemOf(assets: Assets, { axis = {}, ...settings }: Settings = {}) {
  const { spots, volatilities, yields = spots.map(() => 0), rate, maturity, correlations, terminal, ends } = assets;
  const names = axesNamed(spots.length);
  const mixed = names.flatMap((a, j) =>
    names.slice(j + 1).flatMap((b, k) => {
      const rho = correlations?.[j][j + 1 + k] ?? 0;
      return rho === 0 ? [] : [[a + b, `${rho * volatilities[j] * volatilities[j + 1 + k]}*${a}*${b}`] as const];
    }),
  );
  return {
    axes: each(names, (_, k) => ({
      from: ends[k][0],
      to: ends[k][1],
      coordinate: "log" as const,
      points: [spots[k]] as [number],
      ...axis,
    })),
    equation: {
      ...Object.fromEntries(names.map((name, k) => [name + name, `${0.5 * volatilities[k] ** 2}*${name}^2`])),
      ...each(names, (name, k) => `${rate - yields[k]}*${name}`),
      ...Object.fromEntries(mixed),
      V: -rate,
    },
    terminal,
    expiry: maturity,
    ...(assets.knockedOut
      ? { boundaries: each(names, () => ({ high: { kind: "dirichlet" as const, value: 0 } })) }
      : {}),
    ...settings,
  };
}

/** The solution, at the spots. */
export async function priced(assets: Assets, settings: Settings, device: Device) {
  const { entries } = await solveOnSparseGrid(problemOf(assets, settings) as never, { device });
  const entry = entries[0];
  const names = axesNamed(assets.spots.length);
  return { entry, point: entry.at(each(names, (_, k) => assets.spots[k])) };
}

/** The up-and-out call on the best of `d` independent assets of the published tables. */
export const bestOf = (d: number): Assets => ({
  spots: axesNamed(d).map(() => 100),
  volatilities: axesNamed(d).map(() => 0.2),
  rate: 0.03,
  maturity: 1,
  terminal: `max(${nested("max", axesNamed(d))}-100,0)`,
  ends: axesNamed(d).map(() => [45, 200] as const),
  knockedOut: true,
});
