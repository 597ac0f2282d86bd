/**
 * Mistakes that the TypeScript compiler finds: after each `// error:` the line and what the compiler says about it there; nothing else is
 * wrong. Compiled by mistakes.test.ts, and by nothing else.
 */
import { openDevice, parseBook, priceBook, solve } from "feynkac";
import { i32, kernel, read, real, bool, write } from "feynkac/kernel";
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
// error: "a problem has one axis"
await solve({ axes: { S: { from: 0, to: 1 }, v: { from: 0, to: 1 } }, equation: { V: 0 }, terminal: 1, expiry: 1 });
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
// error: Property 'device' is missing
await priceBook(parseBook("{}"), {});

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
