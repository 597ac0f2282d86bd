/** Records: as parameters, as locals, as results; with arrays in them; assigned to as a whole and by fields. */
import {
  bool,
  fn,
  type FunctionOf,
  i32,
  kernel,
  read,
  real,
  record,
  type ResultOf,
  u32,
  type ValueOf,
  write,
} from "../../../src/kernel/index.ts";
import { type ConformanceCase, range, uniforms } from "../case.ts";

const Row = record({ lower: real, diagonal: real, upper: real });
const Mesh = record({ nodes: i32, x: read(real), first: Row });

/** Two returns, and a record in the result. */
const rowAt = fn({
  name: "rowAt",
  params: { mesh: Mesh, i: i32, rate: real },
  body({ mesh, i, rate }) {
    if (i === 0) return { row: mesh.first, h: 1 };
    const h = mesh.x[i] - mesh.x[i - 1];
    return { row: { lower: rate * h, diagonal: 1 - h, upper: mesh.first.upper }, h };
  },
});

/** One return, of what it has got. */
const firstOf = fn({ name: "firstOf", params: [Mesh], body: ([mesh]) => mesh.first });

const nested: ConformanceCase = {
  name: "records in records, as parameters and results",
  kernel: kernel({
    name: "nestedRecords",
    params: { x: read(real), rate: real, out: write(real) },
    env: { rowAt, firstOf },
    body({ x, rate, out }, gpu, { rowAt, firstOf }) {
      const i = gpu.globalId();
      const first = { lower: 0.25, diagonal: 2, upper: x[i] };
      const mesh = { nodes: x.length, x, first };
      const { row, h } = rowAt({ mesh, i, rate });
      const {
        row: { diagonal },
      } = rowAt({ mesh, i: 0, rate: 0.125 });
      out[4 * i] = row.lower + h;
      out[4 * i + 1] = diagonal + gpu.real(mesh.nodes);
      out[4 * i + 2] = rowAt({ mesh: { nodes: 3, x, first: row }, i: 0, rate: row.upper }).row.upper;
      out[4 * i + 3] = firstOf(mesh).upper - firstOf({ nodes: 1, x, first: row }).lower;
    },
  }),
  size: { items: 33 },
  args: ({ real, zeros }) => ({ x: real(range(33).map((i) => (i * i) / 8)), rate: 0.5, out: zeros(132) }),
};

const State = record({ u: write(real), counts: write(i32), scale: real, forward: bool, mask: u32 });
type State = ValueOf<typeof State>;

const allocate = fn({
  name: "allocate",
  params: [real, bool],
  body([scale, forward], gpu) {
    return { u: gpu.privateReal(6), counts: gpu.privateI32(6), scale, forward, mask: gpu.u32(5) };
  },
});

const fillState: FunctionOf<(of: { state: State; from: number }) => void> = fn({
  name: "fillState",
  params: { state: State, from: real },
  body({ state: { u, counts, scale, forward, mask }, from }, gpu) {
    for (let k = 0; k < u.length; k++) {
      const at = forward ? k : u.length - 1 - k;
      u[at] = from + scale * gpu.real(k);
      counts[at] = ((gpu.u32(k) & mask) >>> 0) | 0;
    }
  },
});

const withArrays: ConformanceCase = {
  name: "records of private arrays, reals, integers and bools",
  kernel: kernel({
    name: "recordsOfArrays",
    params: { x: read(real), out: write(real), counted: write(i32) },
    env: { allocate, fillState },
    body({ x, out, counted }, gpu, { allocate, fillState }) {
      const i = gpu.globalId();
      const one = allocate(0.5, i % 2 === 0);
      const { counts, mask } = allocate(2, false);
      const two = { u: gpu.privateReal(6), counts, scale: 0.25 * x[i], forward: true, mask };
      fillState({ state: one, from: x[i] });
      fillState({ state: two, from: one.u[2] });
      // Arrays chosen as arguments, by themselves and in records.
      fillState({ state: i > 7 ? one : two, from: 0.5 });
      const u = i > 3 ? 1 : 2;
      fillState({ state: { u: i > 3 ? one.u : two.u, counts, scale: 1, forward: false, mask: 3 }, from: gpu.real(u) });
      out[2 * i] = one.u[1] - one.u[5];
      out[2 * i + 1] = two.u[2] + two.u[4];
      counted[2 * i] = one.counts[4];
      counted[2 * i + 1] = two.counts[3];
    },
  }),
  size: { items: 21 },
  args: ({ real, zeros }) => ({ x: real(uniforms(21)), out: zeros(42), counted: new Int32Array(42) }),
};

const Ends = record({ low: real, high: real });
type Ends = ValueOf<typeof Ends>;

const swapped = fn({ name: "swapped", params: [Ends], body: ([{ low, high }]) => ({ low: high, high: low }) });
const same = fn({ name: "same", params: [Ends], body: ([ends]) => ends });
const readEnds = fn({
  name: "readEnds",
  params: { x: read(real), i: i32 },
  body({ x, i }) {
    const ends = { low: x[i], high: x[i + 1] };
    if (ends.low < 0.25) return ends;
    ends.low -= 0.25;
    return ends.high > ends.low ? ends : { low: ends.high, high: ends.low };
  },
});

const assigned: ConformanceCase = {
  name: "records assigned to as a whole, and by fields",
  kernel: kernel({
    name: "assignedRecords",
    params: { x: read(real), out: write(real) },
    env: { readEnds, swapped, same },
    body({ x, out }, gpu, { readEnds, swapped, same }) {
      const i = gpu.globalId();
      let ends = { low: 0, high: 1 };
      const before = ends;
      let sum = 0;
      for (let k = 0; k < 40; k++) {
        const old = ends;
        ends = readEnds({ x, i: (i + k) % 20 });
        if (k % 3 === 1) ends = swapped(ends);
        else if (k % 3 === 2) ends = { low: ends.high, high: old.low };
        sum += ends.high - ends.low + old.low;
      }
      let chosen: { low: number; high: number };
      if (i % 2 === 0) chosen = readEnds({ x, i });
      else chosen = { low: sum, high: 0.5 };
      const either = i % 3 === 0 ? swapped(chosen) : readEnds({ x, i: 3 });
      either.low += 2;
      either.high = either.low++;
      out[5 * i] = sum;
      out[5 * i + 1] = before.high - before.low;
      out[5 * i + 2] = either.low + 16 * either.high;
      out[5 * i + 3] = (ends = swapped({ low: 3, high: same(ends).low })).low;
      out[5 * i + 4] = chosen.low + (chosen = swapped(chosen)).low + same(chosen).high;
    },
  }),
  size: { items: 20 },
  args: ({ real, zeros }) => ({ x: real(range(21).map((i) => ((i * 7) % 16) / 8)), out: zeros(100) }),
};

/** As JavaScript has it: a second name stands for the same record, and a `let` for another once it is assigned. */
const references: ConformanceCase = {
  name: "records by reference",
  kernel: kernel({
    name: "referencedRecords",
    params: { x: read(real), out: write(real) },
    env: { same, swapped },
    body({ x, out }, gpu, { same, swapped }) {
      const i = gpu.globalId();
      const ends = { low: x[i], high: 1 };
      const alias = ends;
      const both = { left: ends, right: { low: 2, high: ends.high } };
      const { low } = ends;
      const through = same(ends);
      ends.low = 8;
      ends.high += 4;
      const { high } = alias;
      ends.high = 16;
      out[5 * i] = alias.low + both.left.high + both.right.high;
      out[5 * i + 1] = low + high;
      out[5 * i + 2] = through.low + 32 * through.high;
      let count = 0;
      const total = { value: 0 };
      for (let k = 0; k < 3; k++) {
        const inner = { value: total.value, k };
        inner.value += x[i];
        inner.k++;
        total.value = inner.value;
        count += inner.k;
      }
      out[5 * i + 3] = total.value + gpu.real(count);
      out[5 * i + 4] = swapped({ low: ends.low++, high: ends.low }).high;
    },
  }),
  size: { items: 9 },
  args: ({ real, zeros }) => ({ x: real(range(9).map((i) => i / 8)), out: zeros(45) }),
};

const Shared = record({ values: write(real), ends: Ends });

const rotate = fn({
  name: "rotate",
  params: { of: Shared, lane: i32, lanes: i32 },
  *body({ of: { values, ends }, lane, lanes }) {
    values[lane] = ends.low;
    yield;
    const next = values[(lane + 1) % lanes];
    yield;
    return { low: next, high: ends.high, ends };
  },
});
type Rotated = ResultOf<typeof rotate>;

const together: ConformanceCase = {
  name: "records in functions with barriers",
  kernel: kernel({
    name: "recordsTogether",
    params: { x: read(real), out: write(real) },
    groupSize: 8,
    env: { rotate },
    *body({ x, out }, gpu, { rotate }) {
      const i = gpu.globalId();
      const lane = gpu.localId();
      const values = gpu.sharedReal(8);
      const ends = { low: x[i], high: 2 * x[i] };
      let last: Rotated = yield* rotate({ of: { values, ends }, lane, lanes: 8 });
      const inner = { low: last.low, high: last.high - 1 };
      last = yield* rotate({ of: { values, ends: inner }, lane, lanes: 8 });
      out[2 * i] = last.low;
      out[2 * i + 1] = last.ends.high;
    },
  }),
  size: { groups: 3 },
  args: ({ real, zeros }) => ({ x: real(range(24).map((i) => i / 4)), out: zeros(48) }),
};

type Volatility = FunctionOf<(of: { S: number; t: number }) => number> | undefined;
const present: Volatility = fn({ name: "volatility", params: { S: real, t: real }, body: ({ S, t }) => S + 2 * t });
const scaled = fn({
  name: "scaled",
  params: [real],
  env: { volatility: present, none: undefined as Volatility },
  body([x], _gpu, { volatility, none }) {
    if (volatility === undefined) return x;
    const other = none ? none({ S: x, t: 1 }) : 0.5;
    return volatility({ S: x, t: other }) + (none?.({ S: 1, t: 2 }) ?? 0.125);
  },
});

const optional: ConformanceCase = {
  name: "optional functions of the environment",
  kernel: kernel({
    name: "optionalFunctions",
    params: { x: read(real), n: u32, out: write(real) },
    env: { scaled, volatility: present, absent: undefined as Volatility, limit: undefined as number | undefined },
    body({ x, n, out }, gpu, { scaled, volatility, absent, limit }) {
      const i = gpu.globalId();
      out[3 * i] = absent === undefined ? scaled(x[i]) : absent({ S: x[i], t: 0 });
      if (volatility && gpu.u32(i) < n) out[3 * i + 1] = volatility({ S: 1, t: x[i] });
      if (!absent) out[3 * i + 2] = limit !== undefined && x[i] > limit ? 1 : 2;
    },
  }),
  size: { items: 11 },
  args: ({ real, zeros }) => ({ x: real(range(11)), n: 7, out: zeros(33) }),
};

export const recordCases: readonly ConformanceCase[] = [nested, withArrays, assigned, references, together, optional];
