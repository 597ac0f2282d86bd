/** The layers of a script between dates: the values that its states can have there. */
import { SpecError } from "../../base/errors.ts";
import { type Device, TemporaryBuffers } from "../../device/index.ts";
import { hostRealType, type Precision } from "../../kernel/index.ts";
import { ALIVE, type Expression, partsOf, type Program, type Statement } from "../../market/scripts/index.ts";
import { scriptKernels } from "./kernels.ts";
import { type Layers, type Mesh, packDate, type ScriptProblem } from "./problem.ts";

/** Combinations of states beyond which one of them becomes an axis, and the most beside an axis. */
const MOST = { groups: 40, besideAxis: 12 } as const;
/**
 * The spots and the points of a real state at which dates are looked at, the spots between two of them where states
 * differ, and how far out spots count for the range of a real state, in standard deviations.
 */
const LOOK = { spots: 257, points: 9, between: 31, deviations: 5 } as const;
/** The part of the range of a real state that is added at both ends. */
const MARGIN = 1 / 16;

/** Returns the indices of carried numbers that an event reads. */
function readsOf(body: readonly Statement[], { initialAt, letters }: Program): ReadonlySet<number> {
  const found = new Set<number>();
  const visit = (one: Expression): void => {
    if (one.kind === "state") found.add(one.at);
    if (one.kind === "rank") for (let k = 0; k < letters.length; k++) found.add(initialAt! + k);
    partsOf(one).forEach(visit);
  };
  const run = (statements: readonly Statement[]): void => {
    for (const one of statements) {
      if (one.kind === "if") [one.yes, one.no].forEach(run);
      if (one.kind === "if") visit(one.test);
      else if (one.kind === "pay") visit(one.amount);
      else if (one.kind !== "stop") visit(one.value);
    }
  };
  run(body);
  return found;
}

/** Returns the carried numbers that matter after each date, in increasing order: those that later events read. */
export function liveAfter(program: Program, dates: readonly { readonly dated: readonly number[] }[]) {
  const { events, columns, initialAt, letters } = program;
  const happens = ({ dated }: (typeof dates)[number], event: number | "start"): boolean =>
    columns.some((one, c) => one.kind === "happens" && one.event === event && dated[c] > 0.5);
  const reads = events.map(({ body }) => readsOf(body, program));
  const live = new Set<number>();
  return dates
    .toReversed()
    .map((date) => {
      const after = [...live].toSorted((a, b) => a - b);
      reads.forEach((own, event) => {
        if (happens(date, event)) for (const at of own) live.add(at);
      });
      // The start sets them.
      if (initialAt !== undefined && happens(date, "start"))
        for (let k = 0; k < 2 * letters.length; k++) live.delete(initialAt + k);
      return after;
    })
    .toReversed();
}

const NONE: Layers = { names: [], groups: [[]], axis: undefined };

/** Returns the carried numbers of each layer, [layer][number], the real state at a number of points. */
export function carriedOf({ running }: ScriptProblem, { names, groups, axis }: Layers, points: number) {
  return groups.flatMap((group) =>
    Array.from({ length: axis === undefined ? 1 : points }, (_, k) => {
      const carried = Float64Array.from(running);
      names.forEach((at, i) => (carried[at] = group[i]));
      if (axis !== undefined) carried[axis.name] = axis.from + ((axis.to - axis.from) * k) / (points - 1);
      return carried;
    }),
  );
}

/**
 * Finds the layers after each date of a problem, by running dates on many spots. @throws SpecError where there are more
 * than finite differences take
 */
export async function findLayers(
  problem: ScriptProblem,
  mesh: Mesh,
  device: Device,
  precision: Precision,
): Promise<readonly Layers[]> {
  const { program, dates } = problem;
  const live = liveAfter(program, dates);
  const kernel = await device.compile(scriptKernels(program).explore, { precision, vectors: 1 });
  const real = hostRealType(precision);
  const step = (mesh.to - mesh.from) / (LOOK.spots - 1);
  const spots = Array.from({ length: LOOK.spots }, (_, k) => mesh.from + k * step);
  const middle = 0.5 * (mesh.from + mesh.to);
  const all: Layers[] = [];
  let before = NONE;
  for (const [d, date] of dates.entries()) {
    const carried = carriedOf(problem, before, LOOK.points);
    /** The carried numbers after the date, [spot][layer before]. */
    const look = async (xs: readonly number[]): Promise<readonly Float64Array[]> => {
      using buffers = new TemporaryBuffers(device);
      const items = xs.length * carried.length;
      const out = buffers.empty(real, items * program.running);
      const given = {
        count: 1,
        nodes: LOOK.spots,
        groups: 1,
        width: 0,
        points: 1,
        layers: carried.length,
        out,
        names: buffers.filled("i32", new Int32Array(1)),
        data: buffers.filled(real, packDate([problem], d, { ...mesh, nodes: LOOK.spots }, carried, NONE, 1)),
        xs: buffers.filled(real, Float64Array.from(xs)),
        after: buffers.filled(real, new Float64Array(1)),
      };
      device.launch(kernel, given, { items, microsecondsEach: 0.5 });
      const found = Float64Array.from(await device.read(out));
      return Array.from({ length: items }, (_, k) => found.subarray(k * program.running, (k + 1) * program.running));
    };
    if (live[d].length > 0) {
      const reach = LOOK.deviations * problem.deviation(date.time) + 0.5 * (mesh.spots.at(-1)! - mesh.spots[0]);
      const seen = await look(spots);
      const reals = live[d].filter((at) => isReal(seen, at, carried.length, before.axis?.name));
      const finite = [ALIVE, ...live[d].filter((at) => !reals.includes(at))];
      const edges = spots.filter((_, k) =>
        carried.some((_one, l) => {
          const [a, b] = [seen[k * carried.length + l], seen[(k + 1) * carried.length + l]];
          return b !== undefined && finite.some((at) => a[at] !== b[at]);
        }),
      );
      const between = edges.flatMap((x) =>
        Array.from({ length: LOOK.between }, (_, k) => x + (step * (k + 1)) / (LOOK.between + 1)),
      );
      const isNear = seen.map((_, k) => Math.abs(spots[Math.floor(k / carried.length)] - middle) <= reach);
      const more = between.length === 0 ? [] : await look(between);
      before = layersFrom(program, live[d], reals, {
        rows: [...seen, ...more].filter((row) => row[ALIVE] > 0.5),
        near: seen.filter((row, k) => isNear[k] && row[ALIVE] > 0.5),
      });
    } else before = NONE;
    all.push(before);
  }
  return all;
}

/** The number of different values of a carried number. */
const countOf = (rows: readonly Float64Array[], at: number): number => new Set(rows.map((row) => row[at])).size;

/**
 * Tells whether a state follows the spot: whether it differs at three spots in a row, where steps have equal values. So
 * does one that did before.
 */
function isReal(rows: readonly Float64Array[], at: number, layers: number, axis: number | undefined): boolean {
  if (axis === at) return countOf(rows, at) > 1;
  return rows.some((row, item) => {
    if (item < 2 * layers || !(row[ALIVE] > 0.5)) return false;
    const [a, b, c] = [row[at], rows[item - layers][at], rows[item - 2 * layers][at]];
    return Math.min(Math.abs(a - b), Math.abs(b - c), Math.abs(a - c)) > 1e-9 * Math.abs(b);
  });
}

/** Returns the layers of states with the given values; `near` are those at spots that are likely to be reached. */
function layersFrom(
  program: Program,
  live: readonly number[],
  reals: readonly number[],
  { rows, near }: { readonly rows: readonly Float64Array[]; readonly near: readonly Float64Array[] },
): Layers {
  if (rows.length === 0) return { names: live, groups: [live.map(() => 0)], axis: undefined };
  const combined = (names: readonly number[]): readonly (readonly number[])[] => {
    const values = rows.map((row) => names.map((at) => row[at]));
    return [...new Map(values.map((one) => [one.map((value) => value.toPrecision(10)).join(), one])).values()];
  };
  const groups = reals.length === 0 ? combined(live) : [];
  if (reals.length === 0 && groups.length <= MOST.groups) return { names: live, groups, axis: undefined };
  const counts = live.map((at) => countOf(rows, at));
  const name = reals[0] ?? live[counts.indexOf(Math.max(...counts))];
  const names = live.filter((at) => at !== name);
  const beside = reals.length > 1 ? [] : combined(names);
  if (reals.length > 1 || beside.length > MOST.besideAxis) {
    const what =
      reals.length > 1
        ? `${reals.length} numbers that follow the spot`
        : `${beside.length} combinations beside a number`;
    throw new SpecError(
      `script "${program.name}": its states have ${what} on one date, more than finite differences take; use method ` +
        '"montecarlo"',
    );
  }
  const values = (near.length > 0 ? near : rows).map((row) => row[name]);
  const [least, most] = [values.reduce((a, b) => Math.min(a, b)), values.reduce((a, b) => Math.max(a, b))];
  // What lies beyond the spots that were looked at; nothing changes its sign by it.
  const more = reals.length > 0 ? MARGIN * (most - least) : 0;
  const from = least >= 0 ? Math.max(least - more, 0) : least - more;
  const to = most <= 0 ? Math.min(most + more, 0) : most + more;
  return { names, groups: beside, axis: { name, from, to: to > from ? to : from + 1 } };
}
