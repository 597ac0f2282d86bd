/** The playground: an equation or a payoff that the visitor has written, solved on the chosen device. */
import type { Chart, Point } from "../../src/output/charts/index.ts";
import type { CompiledKernel, Device } from "../../src/device/index.ts";
import { type AxesSolution, type Solution, solve } from "../../src/pde/fdm/index.ts";

export interface PlayRequest {
  /** JavaScript that ends in an expression: the problem, as `solve` takes it. */
  readonly code: string;
  /** Whether the generated code is wanted as well. */
  readonly generated?: boolean;
}

/** A kernel as it runs: WGSL, or a listing of the WebAssembly. */
export interface GeneratedCode {
  readonly name: string;
  readonly code: string;
}

export interface PlayResult {
  readonly charts: readonly Chart[];
  /** The time of the solution alone, on the device. */
  readonly milliseconds: number;
  readonly device: string;
  readonly entries: readonly string[];
  readonly generated: readonly GeneratedCode[];
}

type Problem = Parameters<typeof solve>[0] & { readonly axes: Readonly<Record<string, unknown>> };

/** @throws what the code throws; SpecError or KernelError with the place in it */
export async function play(request: PlayRequest, device: Device, signal: AbortSignal): Promise<PlayResult> {
  const problem = evaluated(request.code);
  const compiled = new Set<CompiledKernel>();
  const started = performance.now();
  const solution = (await recording(device, compiled, () => solve(problem as never, { device, signal }))) as
    | Solution
    | AxesSolution;
  const milliseconds = performance.now() - started;
  const names = Object.keys(problem.axes);
  const failed = solution.entries.flatMap(({ error }) => (error === undefined ? [] : [error.message]));
  if (failed.length === solution.entries.length) throw new Error(failed[0]);
  const charts =
    names.length === 1 ? lineCharts(solution as Solution, names[0]) : mapChart(solution as AxesSolution, names);
  // A listing is made when it is asked for.
  const generated =
    request.generated === true ? [...compiled].map(({ kernel, code }) => ({ name: kernel.name, code })) : [];
  return { charts, milliseconds, device: device.name, entries: failed, generated };
}

/** Notes the kernels that a device compiles, or finds compiled, during some work. */
async function recording<T>(device: Device, compiled: Set<CompiledKernel>, work: () => Promise<T>): Promise<T> {
  const { compile } = device;
  const noting: Device["compile"] = async (kernel, options) => {
    const found = await compile.call(device, kernel, options);
    compiled.add(found);
    return found;
  };
  Object.assign(device, { compile: noting });
  try {
    return await work();
  } finally {
    Reflect.deleteProperty(device, "compile");
  }
}

/** The visitor's own code, in the visitor's own worker. */
function evaluated(code: string): Problem {
  const text = code.trim().replace(/;\s*$/, "");
  // oxlint-disable-next-line no-new-func, typescript/no-implied-eval -- a playground runs what is typed into it
  const value: unknown = new Function(`"use strict"; return (${text}\n);`)();
  if (typeof value === "function") return equationOf({ payoff: value as PayoffPlay["payoff"] });
  if (typeof value === "object" && value !== null && "payoff" in value) return equationOf(value as PayoffPlay);
  if (typeof value !== "object" || value === null || !("axes" in value))
    throw new TypeError(
      "expected a problem with axes, equation, terminal and expiry, or a payoff: ({ S }) => Math.max(S - 100, 0)",
    );
  return value as Problem;
}

/** A payoff on one spot, with the market it is priced in. */
interface PayoffPlay {
  readonly payoff: (state: { readonly S: number }) => number;
  readonly spot?: number;
  /** A number, or a list: a curve for each. */
  readonly volatility?: number | readonly number[];
  readonly rate?: number | readonly number[];
  readonly dividendYield?: number | readonly number[];
  readonly expiry?: number;
  readonly exercise?: "european" | "american";
}

/** Prices reach so many standard deviations. */
const DEVIATIONS = 6;

/** Black and Scholes' equation for a payoff. */
function equationOf(play: PayoffPlay): Problem {
  const { payoff, spot = 100, volatility = 0.2, rate = 0.03, dividendYield = 0, expiry = 1 } = play;
  const sigma = Math.max(...[volatility].flat());
  const problem = {
    axes: { S: { from: 0, to: spot * Math.exp(Math.min(DEVIATIONS * sigma * Math.sqrt(expiry), 4)), points: [spot] } },
    parameters: { sigma: volatility, r: rate, q: dividendYield },
    equation: ({ S, sigma, r, q }: Readonly<Record<"S" | "sigma" | "r" | "q", number>>) => ({
      SS: 0.5 * sigma * sigma * S * S,
      S: (r - q) * S,
      V: -r,
    }),
    terminal: payoff,
    expiry,
    conditions: play.exercise === "american" ? [{ kind: "exercise", payoff }] : [],
  };
  return problem as never;
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
  const at = (x: number, y: number): number => entry.at({ ...rest, [first]: x, [second]: y }).value;
  return [
    {
      kind: "contour",
      title: `Value over ${first} and ${second}`,
      x: { label: first, values: xs },
      y: { label: second, values: ys },
      values: ys.map((y) => xs.map((x) => at(x, y))),
      unit: "V",
    },
  ];
}
