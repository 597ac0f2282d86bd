/** The playground: an equation that the visitor has written, solved on the chosen device. */
import type { Chart, Point } from "../../src/charts/index.ts";
import type { Device } from "../../src/device/index.ts";
import { type AxesSolution, type Solution, solve } from "../../src/fdm/index.ts";

export interface PlayRequest {
  /** JavaScript that ends in an expression: the problem, as `solve` takes it. */
  readonly code: string;
}

export interface PlayResult {
  readonly charts: readonly Chart[];
  /** The time of the solution alone, on the device. */
  readonly milliseconds: number;
  readonly device: string;
  readonly entries: readonly string[];
}

type Problem = Parameters<typeof solve>[0] & { readonly axes: Readonly<Record<string, unknown>> };

/** @throws what the code throws; SpecError or KernelError with the place in it */
export async function play({ code }: PlayRequest, device: Device, signal: AbortSignal): Promise<PlayResult> {
  const problem = evaluated(code);
  const started = performance.now();
  const solution = (await solve(problem as never, { device, signal })) as Solution | AxesSolution;
  const milliseconds = performance.now() - started;
  const names = Object.keys(problem.axes);
  const failed = solution.entries.flatMap(({ error }) => (error === undefined ? [] : [error.message]));
  if (failed.length === solution.entries.length) throw new Error(failed[0]);
  const charts =
    names.length === 1 ? lineCharts(solution as Solution, names[0]) : mapChart(solution as AxesSolution, names);
  return { charts, milliseconds, device: device.name, entries: failed };
}

/** The visitor's own code, in the visitor's own worker. */
function evaluated(code: string): Problem {
  const text = code.trim().replace(/;\s*$/, "");
  // oxlint-disable-next-line no-new-func, typescript/no-implied-eval -- a playground runs what is typed into it
  const value: unknown = new Function(`"use strict"; return (${text}\n);`)();
  if (typeof value !== "object" || value === null || !("axes" in value))
    throw new TypeError("expected a problem: an object with axes, equation, terminal and expiry");
  return value as Problem;
}

function labelOf(parameters: Readonly<Record<string, number>>, varying: readonly string[]): string {
  return varying.map((name) => `${name} = ${parameters[name]}`).join(", ") || "value";
}

/** Parameters that differ between entries. */
function varyingNames(entries: readonly { readonly parameters: Readonly<Record<string, number>> }[]): string[] {
  const [first] = entries;
  return Object.keys(first?.parameters ?? {}).filter((name) =>
    entries.some(({ parameters }) => parameters[name] !== first.parameters[name]),
  );
}

const MOST_ENTRIES = 8;

function lineCharts({ entries: all }: Solution, axis: string): Chart[] {
  const entries = all.filter(({ error }) => error === undefined).slice(0, MOST_ENTRIES);
  const varying = varyingNames(entries);
  const curves = (name: "value" | "first" | "second"): Chart => ({
    kind: "plot",
    title: { value: "Value", first: `First derivative by ${axis}`, second: `Second derivative by ${axis}` }[name],
    x: { label: axis },
    y: { label: { value: "V", first: `∂V/∂${axis}`, second: `∂²V/∂${axis}²` }[name] },
    series: entries.map((entry) => {
      const nodes = [...entry.nodes];
      const [low, high] = [nodes[0], nodes[nodes.length - 1]];
      const at = Array.from({ length: 161 }, (_, i) => low + ((high - low) * (0.5 + i)) / 161);
      const points = at.map((x): Point => [x, entry.at(x)[name]]);
      return { label: labelOf(entry.parameters, varying), points };
    }),
  });
  return [curves("value"), curves("first"), curves("second")];
}

function mapChart({ entries }: AxesSolution, axes: readonly string[]): Chart[] {
  const [first, second, ...others] = axes;
  const entry = entries.find(({ error }) => error === undefined);
  if (entry === undefined) return [];
  const grid = (axis: string, count: number): number[] => {
    const nodes = entry.nodes[axis];
    const [low, high] = [nodes[0], nodes[nodes.length - 1]];
    return Array.from({ length: count }, (_, i) => low + ((high - low) * (0.5 + i)) / count);
  };
  const [xs, ys] = [grid(first, 28), grid(second, 20)];
  // A third axis is cut in its middle.
  const rest = Object.fromEntries(others.map((axis) => [axis, grid(axis, 1)[0]]));
  const compact = (value: number): string => value.toLocaleString("en-US", { maximumSignificantDigits: 3 });
  const at = (x: number, y: number): number => entry.at({ ...rest, [first]: x, [second]: y }).value;
  return [
    {
      kind: "heat-map",
      title: `Value over ${first} and ${second}`,
      x: { label: first, values: xs.map(compact) },
      y: { label: second, values: ys.map(compact) },
      values: ys.map((y) => xs.map((x) => at(x, y))),
      unit: "V",
    },
  ];
}
