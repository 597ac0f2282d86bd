/**
 * Mistakes that the TypeScript compiler finds: after each `// error:` the line and what the compiler says about it
 * there; nothing else is wrong. Compiled by mistakes.test.ts, and by nothing else.
 */
import { type Book, type MarketInput, openDevice, parseBook, priceBook, solve, type TradeInput } from "feynkac";
import {
  bool,
  fn,
  type FunctionOf,
  i32,
  kernel,
  type KernelFunction,
  type ParamsOf,
  read,
  real,
  record,
  type ResultOf,
  type ValueOf,
  write,
} from "feynkac/kernel";
import type { EquationProblem } from "feynkac/fdm";

const device = await openDevice();
const axes = { S: { from: 0, to: 400 } } as const;
const parameters = { K: 100, r: 0.05, sigma: 0.2 };

// Problems: one that is right …
await solve({
  axes: { S: { from: 0, to: "4*K", nodes: 401, coordinate: "log", points: ["K", { at: 90, align: "midway" }] } },
  parameters: { K: [90, 100], r: 0.05, sigma: 0.2 },
  equation: ({ t, S, r, sigma }, gpu) => ({ SS: 0.5 * sigma ** 2 * S ** 2, S: gpu.erf(t) * r * S, V: -r, source: 0 }),
  terminal: ({ S, K }) => Math.max(K - S, 0),
  expiry: "K/100",
  boundaries: { S: { low: { kind: "dirichlet", value: ({ K, t }) => K * t }, high: { kind: "linear" } } },
  conditions: [
    { kind: "exercise", payoff: ({ S, K }) => K - S, at: [0.5], method: "penalty" },
    { kind: "knock-out", below: 80, above: ({ t }) => 120 + t, value: "K", from: 0.1 },
    { kind: "jump", at: [0.5], to: ({ S }) => S - 1 },
  ],
});
await solve({ axes, parameters, equation: { SS: "0.5*(sigma*S)^2", V: ({ r }) => -r }, terminal: 1, expiry: 1 });
await solve({ axes, equation: ({ S }) => (S > 1 ? { SS: 1, V: S } : { SS: 2, V: 3 }), terminal: 1, expiry: 1 });
await solve({
  axes,
  parameters,
  equation: ({ S, r }) => {
    if (S > 100) return { SS: S, V: -r };
    return { SS: 2 * S, V: -r };
  },
  terminal: 1,
  expiry: 1,
});
const declared: EquationProblem<"S", "r"> = {
  axes,
  parameters: { r: 0.05 },
  equation: ({ S, r }) => ({ SS: S, V: -r }),
  terminal: 1,
  expiry: 1,
};
await solve(declared);

// … and what can be wrong with one.
// error: "SSS is no coefficient: those on the axis S are SS, S, V and source"
await solve({ axes, equation: ({ S }) => ({ SSS: S }), terminal: 1, expiry: 1 });
// error: "rr is no coefficient: those on the axis S are SS, S, V and source"
await solve({ axes, equation: ({ S }) => ({ SS: S, rr: 1, V: 0 }), terminal: 1, expiry: 1 });
// error: 'SSS' does not exist in type
await solve({ axes, equation: { SSS: 1, S: 1 }, terminal: 1, expiry: 1 });
// error: Type 'string' is not assignable to type 'number'
await solve({ axes, equation: () => ({ SS: "S^2" }), terminal: 1, expiry: 1 });
// error: Property 'sigma' does not exist on type
await solve({ axes, parameters: { r: 1 }, equation: ({ S, sigma }) => ({ SS: sigma * S }), terminal: 1, expiry: 1 });
// error: Property 'k' does not exist on type
await solve({ axes, parameters, equation: { V: 0 }, terminal: ({ S, k }) => k - S, expiry: 1 });
// error: Property 'expiry' is missing
await solve({ axes, equation: { V: 0 }, terminal: 1 });
// error: Did you mean '"knock-out"'?
await solve({ axes, equation: { V: 0 }, terminal: 1, expiry: 1, conditions: [{ kind: "knockout", below: 80 }] });
// error: 'bellow' does not exist in type
await solve({ axes, equation: { V: 0 }, terminal: 1, expiry: 1, conditions: [{ kind: "knock-out", bellow: 80 }] });
// error: Property 'payoff' is missing
await solve({ axes, equation: { V: 0 }, terminal: 1, expiry: 1, conditions: [{ kind: "exercise", at: [0.5] }] });
// error: Did you mean to write 'nodes'?
await solve({ axes: { S: { from: 0, to: 1, node: 401 } }, equation: { V: 0 }, terminal: 1, expiry: 1 });
// error: Property 'to' is missing
await solve({ axes: { S: { from: 0 } }, equation: { V: 0 }, terminal: 1, expiry: 1 });
const two = { S: { from: 0, to: 1 }, v: { from: 0, to: 1 } };
// error: is no coefficient: those are an axis, two axes in a row, V and source
await solve({ axes: two, equation: ({ S }) => ({ Sw: S }), terminal: 1, expiry: 1 });
const several = await solve({ axes: two, equation: { SS: 1, Sv: 0.5, vv: 1 }, terminal: 1, expiry: 1 });
// error: Property 'v' is missing
several.entries[0].at({ S: 0.5 });
// error: Property 'Sw' does not exist
console.log(several.entries[0].at({ S: 0.5, v: 0.5 }).second.Sw);
// error: 'x' does not exist in type
await solve({ axes, equation: { V: 0 }, terminal: 1, expiry: 1, boundaries: { x: { low: { kind: "linear" } } } });
// error: 'left' does not exist in type
await solve({ axes, equation: { V: 0 }, terminal: 1, expiry: 1, boundaries: { S: { left: { kind: "linear" } } } });
// error: is not assignable to type '"dirichlet" | "linear" | "neumann" | "zero-curvature"'
await solve({ axes, equation: { V: 0 }, terminal: 1, expiry: 1, boundaries: { S: { low: { kind: "none" } } } });
// error: Type '"bdf2"' is not assignable to type
await solve({ axes, equation: { V: 0 }, terminal: 1, expiry: 1, scheme: { kind: "bdf2" } });
// error: 'expirty' does not exist in type
await solve({ axes, equation: { V: 0 }, terminal: 1, expiry: 1, expirty: 1 });

// Devices and books.
// error: Type '"gpu"' is not assignable to type '"auto" | "cpu" | "cuda" | "webgpu"
await openDevice({ backend: "gpu" });
// error: Did you mean to write 'threads'?
await openDevice({ backend: "cpu", thread: 2 });
// error: Did you mean to write 'greeks'?
await priceBook(parseBook("{}"), { device, greek: "all" });

// Books: right …
const market: MarketInput = {
  rates: { EUR: 0.05 },
  underlyings: { ACME: { spot: 100, currency: "EUR", volatility: 0.2 } },
};
const trade = { id: "T1", underlying: "ACME", expiry: "1Y" } as const;
const basket = { id: "T2", underlyings: ["ACME", "BETA"], expiry: 1, exercise: "american" } as const;
const bookOf = (...trades: TradeInput[]): Book => parseBook({ asOf: "2026-11-20T16:00:00Z", market, trades });
bookOf(
  { ...trade, payoff: "put", strike: 100 },
  { ...trade, payoff: "call", lookback: { strike: "floating", monitoring: "continuous" } },
  { ...trade, payoff: { expression: "max(S - 100, 0)" } },
  { ...basket, payoff: { spread: "call" }, strike: 0 },
  { ...basket, payoff: { expression: "max(S1 - S2, 0)" } },
);

// … and wrong.
// error: Property 'strike' is missing in type
bookOf({ ...trade, payoff: "put" });
// error: Property 'strike' is missing in type
bookOf({ ...trade, payoff: { digital: "put" } });
// error: Property 'strike' is missing in type
bookOf({ ...basket, payoff: { worstOf: "put" } });
// error: Property 'strike' is missing in type
bookOf({ ...trade, payoff: "call", average: { kind: "arithmetic", dates: "continuous" } });
// error: Type 'string' is not assignable to type 'number'
bookOf({ ...trade, payoff: "put", strike: "100" });
// error: Did you mean '"put"'?
bookOf({ ...trade, payoff: "putt", strike: 100 });
// error: Did you mean to write 'quantity'?
bookOf({ ...trade, payoff: "put", strike: 100, quantiy: 2 });
// error: missing the following properties from type 'HestonInput': kappa, theta, sigma, rho
bookOf({ ...trade, payoff: "put", strike: 100, volatility: { heston: { v0: 0.04 } } });
// error: Type 'string' is not assignable to type 'RateInput'
export const wrongMarket: MarketInput = { ...market, rates: { EUR: "0.05" } };

// Launches: right …
const scale = kernel({
  params: { u: read(real), n: i32, half: bool, out: write(real) },
  body({ u, n, half, out }, gpu) {
    const i = gpu.globalId();
    if (i < n) out[i] = half ? 0.5 * u[i] : u[i];
  },
});
const compiled = await device.compile(scale, { precision: "f64" });
const u = device.createBuffer("f64", 8);
const out = device.createBuffer("f64", 8);
device.launch(compiled, { u, n: 8, half: true, out }, { items: 8 });

// … and wrong.
// error: Property 'out' is missing
device.launch(compiled, { u, n: 8, half: true }, { items: 8 });
// error: 'outt' does not exist in type
device.launch(compiled, { u, n: 8, half: true, out, outt: out }, { items: 8 });
// error: Type 'number' is not assignable to type 'DeviceBuffer
device.launch(compiled, { u: 1, n: 8, half: true, out }, { items: 8 });
// error: is not assignable to type 'number'
device.launch(compiled, { u, n: u, half: true, out }, { items: 8 });
// error: Type 'number' is not assignable to type 'boolean'
device.launch(compiled, { u, n: 8, half: 1, out }, { items: 8 });
// error: 'item' does not exist in type 'LaunchSize'
device.launch(compiled, { u, n: 8, half: true, out }, { item: 8 });
// error: Type '"double"' is not assignable to type
await device.compile(scale, { precision: "double" });

// Kernel functions and their records: right …
const Row = record({ lower: real, diagonal: real, upper: real });
const Mesh = record({ nodes: i32, x: read(real), kinds: read(i32), closed: bool, first: Row });
const assemble = fn({
  params: { mesh: Mesh, rate: real, u: write(real) },
  body({ mesh, rate, u }, gpu) {
    const { lower, upper } = mesh.first;
    if (mesh.closed) u[0] = rate * mesh.x[mesh.kinds[0]];
    return { lower, u, inner: { upper: upper * gpu.real(mesh.nodes) } };
  },
});
const allocate = fn({ params: [], body: (_, gpu) => ({ u: gpu.privateReal(4), kinds: gpu.privateI32(4) }) });
const barrier = fn({
  params: { u: write(real) },
  *body({ u }) {
    yield;
    return { first: u[0] };
  },
});
const positional = fn({ params: [real, read(i32), Row], body: ([x, kinds, { lower }]) => x + kinds[0] + lower });
const optional = undefined as FunctionOf<(of: { S: number }) => number> | undefined;
/** A factory states what it makes without `any`. */
function assembleWith(_variant: boolean): FunctionOf<(of: ParamsOf<typeof assemble>) => ResultOf<typeof assemble>> {
  return assemble;
}
const same: KernelFunction<{ readonly row: typeof Row }, number> = fn({
  params: { row: Row },
  body: ({ row }) => row.lower,
});
kernel({
  params: { x: read(real), kinds: read(i32), out: write(real) },
  env: { assemble, allocate, barrier, positional, optional, same, NODES: 4, made: assembleWith(true) },
  *body({ x, kinds, out }, gpu, { assemble, allocate, barrier, positional, optional, same, NODES, made }) {
    const first = { lower: 1, diagonal: 2, upper: 3 };
    const mesh = { nodes: NODES, x, kinds, closed: true, first };
    const own = allocate();
    const { inner, lower } = assemble({ mesh, rate: 0.5, u: own.u });
    made({ mesh, rate: 1, u: out });
    const result: ResultOf<typeof assemble> = assemble({
      mesh: { nodes: 4, x, kinds, closed: false, first },
      rate: lower,
      u: out,
    });
    let ends = yield* barrier(own);
    ends = { first: inner.upper };
    out[0] = ends.first + result.inner.upper + positional(0.5, own.kinds, first) + same({ row: first });
    if (optional !== undefined) out[1] = optional({ S: 1 });

    // … and wrong.
    // error: Property 'rate' is missing
    assemble({ mesh, u: out });
    // error: 'rates' does not exist in type
    assemble({ mesh, rate: 1, u: out, rates: 2 });
    // error: Type '"i32"' is not assignable to type '"real"'
    assemble({ mesh: { nodes: 4, x: kinds, kinds: x, closed: true, first }, rate: 1, u: out });
    // error: is not assignable to type '"write"'
    assemble({ mesh, rate: 1, u: x });
    // error: Type 'number' is not assignable to type 'Numbers<"real">'
    assemble({ mesh, rate: 1, u: 2 });
    // error: is not assignable to type 'number'
    assemble({ mesh, rate: out, u: out });
    // error: Type 'number' is not assignable to type 'boolean'
    assemble({ mesh: { nodes: 4, x, kinds, closed: 1, first }, rate: 1, u: out });
    // error: Property 'upper' is missing
    assemble({ mesh: { nodes: 4, x, kinds, closed: true, first: { lower: 1, diagonal: 2 } }, rate: 1, u: out });
    // error: Expected 1 arguments, but got 3
    assemble(mesh, 1, out);
    // error: Property 'uper' does not exist
    out[0] = assemble({ mesh, rate: 1, u: out }).inner.uper;
    // error: Type '"real"' is not assignable to type '"i32"'
    out[0] = positional(1, x, first);
    // error: Expected 3 arguments, but got 2
    out[0] = positional(1, kinds);
    // error: Cannot invoke an object which is possibly 'undefined'
    out[0] = optional({ S: 1 });
    // error: Argument of type 'Numbers<"real">' is not assignable
    gpu.atomicAdd(out, 0, 1);
  },
});
fn({
  params: { mesh: Mesh, rate: real },
  env: { positional },
  // error: Property 'rat' does not exist
  body({ mesh, rat }, _gpu, { positional }) {
    // error: Cannot assign to 'lower' because it is a read-only property
    mesh.first.lower = 1;
    // error: is not assignable to type '"write"'
    const x: ValueOf<ReturnType<typeof write<"real">>> = mesh.x;
    // error: Expected 3 arguments, but got 1
    return positional(x[0] + rat);
  },
});
fn({
  params: [real],
  env: { positional },
  // error: Property 'missing' does not exist
  body: ([x], _gpu, { missing }) => x + missing,
});
// error: is not assignable to type 'EnvironmentValue'
fn({ params: [real], env: { helper: (x: number) => x }, body: ([x]) => x });
// error: is not assignable to type 'Declaration'
record({ lower: 1 });
