/** The rows of I − hL, divided by their diagonals. */
import { bool, fn, i32, real, record, write } from "../../../kernel/index.ts";
import { coefficientFault, EquationState, FAULT } from "../../fdm/index.ts";
import { axisBits, Node, nodeOf, linearIndexOf, pairsAt, weightsAt } from "./node.ts";
import { AXIS_FIELD, FirstFault, Grid, type GridVariant, header, Launch, neighboursOf, slot } from "./variant.ts";

/** A row of L off the diagonal, and what is added up beside it: the diagonal and the source, in `sums`. */
const Row = record({ entries: write(real), sums: write(real) });
const DIAGONAL = 0;
const SOURCE = 1;

/** The value or the slope at an end of an axis; 0 where nothing is given. */
const endNumber = ({ axes }: GridVariant) =>
  fn({
    name: "endNumber",
    params: { state: EquationState, axis: i32, high: bool },
    env: { ends: axes.map(({ first, last }, k) => ({ k, first: first.number, last: last.number })) },
    body({ state, axis, high }, _gpu, { ends }) {
      let value = 0.0;
      for (const { k, first, last } of ends) {
        if (first !== undefined) {
          if (axis === k && !high) value = first(state);
        }
        if (last !== undefined) {
          if (axis === k && high) value = last(state);
        }
      }
      return value;
    },
  });

/**
 * Adds to an entry: of a neighbour, or, where that is a node of a Dirichlet end, its value to the source. `at`: the
 * neighbour's place in the row; j and k: the axes along which it is, by how much.
 */
const addEntry = (variant: GridVariant) =>
  fn({
    name: "addEntry",
    params: {
      launch: Launch,
      grid: Grid,
      node: Node,
      row: Row,
      t: real,
      entry: record({ at: i32, weight: real, j: i32, byJ: i32, k: i32, byK: i32 }),
    },
    env: { axes: variant.axes.length, ends: endNumber(variant), ...header, ...AXIS_FIELD, SOURCE },
    body({ launch, grid, node: { index, x }, row: { entries, sums }, t, entry }, gpu, env) {
      const { table, meshes, parameters, instances } = launch;
      const { at, weight, j, byJ, k, byK } = entry;
      const wordsJ = grid.words + env.AXES + env.WORDS * j;
      const wordsK = grid.words + env.AXES + env.WORDS * k;
      const placeJ = index[j] + byJ;
      const placeK = index[k] + byK;
      const belowJ = placeJ < table[wordsJ + env.FIRST];
      const aboveJ = placeJ >= table[wordsJ + env.FIRST] + table[wordsJ + env.COUNT];
      const belowK = placeK < table[wordsK + env.FIRST];
      const aboveK = placeK >= table[wordsK + env.FIRST] + table[wordsK + env.COUNT];
      // Beyond an end that is no node of the mesh the weight is 0.
      const isNode =
        placeJ >= 0 && placeJ < table[wordsJ + env.NODES] && placeK >= 0 && placeK < table[wordsK + env.NODES];
      if (!(belowJ || aboveJ || belowK || aboveK)) entries[at] += weight;
      else if (isNode && weight !== 0) {
        const y = gpu.privateReal(env.axes);
        for (let axis = 0; axis < env.axes; axis++) y[axis] = x[axis];
        y[j] = meshes[table[wordsJ + env.VALUES] + placeJ];
        y[k] = meshes[table[wordsK + env.VALUES] + placeK];
        const state = { t, x: y, parameters: { values: parameters, pitch: instances, instance: grid.instance } };
        const isJ = belowJ || aboveJ;
        sums[env.SOURCE] += weight * env.ends({ state, axis: isJ ? j : k, high: isJ ? aboveJ : aboveK });
      }
    },
  });

/** Adds what the derivatives along axis k contribute; `first` keeps the weights of ∂/∂x of all axes. */
const addAxis = (variant: GridVariant) =>
  fn({
    name: "addAxis",
    params: {
      launch: Launch,
      grid: Grid,
      node: Node,
      row: Row,
      t: real,
      h: real,
      k: i32,
      c: write(real),
      first: write(real),
    },
    env: {
      axes: variant.axes.length,
      fitted: variant.fitted,
      hasNeumann: variant.axes.some(({ first, last }) => [first.kind, last.kind].includes("neumann")),
      ends: endNumber(variant),
      weightsAt,
      addEntry: addEntry(variant),
      ...header,
      ...AXIS_FIELD,
      ...axisBits(variant),
      DIAGONAL,
      SOURCE,
    },
    body({ launch, grid, node, row, t, h, k, c, first }, _gpu, env) {
      const { table, parameters, instances } = launch;
      const { index, x } = node;
      const at = grid.words + env.AXES + env.WORDS * k;
      const log = ((env.LOGS >> k) & 1) === 1;
      const slot = index[k];
      const nodes = table[at + env.NODES];
      const low = (env.LOW_KINDS >> (2 * k)) & 3;
      const high = (env.HIGH_KINDS >> (2 * k)) & 3;
      const w = env.weightsAt({ launch, values: table[at + env.VALUES], nodes, slot, log, low, high });
      let a = Math.max(c[k], 0.0);
      let b = c[env.axes + k];
      if (log) {
        a = a / (x[k] * x[k]);
        b = b / x[k] - a;
      }
      // A linear end has the first derivative with respect to the axis itself, without the chain rule's second part.
      const isLinear = !w.inner && w.ghost === 0 && (slot === 0 ? low : high) !== env.ZERO_CURVATURE;
      if (log && isLinear) b = c[env.axes + k] / x[k];
      if (env.fitted && w.inner) a = Math.max(a, Math.max(0.5 * b * w.up, -0.5 * b * w.down));
      let f0 = w.f0;
      let f2 = w.f2;
      if (!w.inner && w.ghost === 0) {
        // Drift that brings values in from outside only as far as diffusion keeps that stable; see `endRow`.
        const flow = h * b * (f2 - f0) * (slot === 0 ? 1.0 : -1.0);
        const dx = slot === 0 ? w.up : w.down;
        if (flow < 0 && (2 * a < Math.abs(b * dx) || flow < -0.5)) {
          f0 = 0.0;
          f2 = 0.0;
        }
      }
      first[3 * k] = w.f0;
      first[3 * k + 1] = w.f1;
      first[3 * k + 2] = w.f2;
      row.sums[env.DIAGONAL] += a * w.s1 - b * (f0 + f2);
      env.addEntry({
        launch,
        grid,
        node,
        row,
        t,
        entry: { at: 2 * k, weight: a * w.s0 + b * f0, j: k, byJ: -1, k, byK: -1 },
      });
      env.addEntry({
        launch,
        grid,
        node,
        row,
        t,
        entry: { at: 2 * k + 1, weight: a * w.s2 + b * f2, j: k, byJ: 1, k, byK: 1 },
      });
      if (env.hasNeumann && w.ghost !== 0) {
        const state = { t, x, parameters: { values: parameters, pitch: instances, instance: grid.instance } };
        const slope = env.ends({ state, axis: k, high: slot !== 0 }) * (log ? x[k] : 1.0);
        row.sums[env.SOURCE] += (slot === 0 ? b - a * w.ghost : b + a * w.ghost) * slope;
      }
    },
  });

/**
 * Adds one of the nine entries of a mixed derivative, the product of the two first ones: corner q mod 9 of pair q/9.
 */
const addCorner = (variant: GridVariant) =>
  fn({
    name: "addCorner",
    params: { launch: Launch, grid: Grid, node: Node, row: Row, t: real, q: i32, c: write(real), first: write(real) },
    env: {
      axes: variant.axes.length,
      pairsAt: pairsAt(variant),
      addEntry: addEntry(variant),
      ...axisBits(variant),
      DIAGONAL,
    },
    body({ launch, grid, node, row, t, q, c, first }, _gpu, env) {
      const m = (q / 9) | 0;
      const p = q - 9 * m;
      const j = launch.table[grid.words + env.pairsAt + 2 * m];
      const k = launch.table[grid.words + env.pairsAt + 2 * m + 1];
      let mixed = c[2 * env.axes + 2 + m];
      if (((env.LOGS >> j) & 1) === 1) mixed = mixed / node.x[j];
      if (((env.LOGS >> k) & 1) === 1) mixed = mixed / node.x[k];
      const byJ = (p % 3) - 1;
      const byK = ((p / 3) | 0) - 1;
      const weight = mixed * first[3 * j + byJ + 1] * first[3 * k + byK + 1];
      if (byJ === 0 && byK === 0) row.sums[env.DIAGONAL] += weight;
      else {
        // Beside a node along one of the axes is a neighbour that the axis' own derivatives have, too.
        let at = 2 * env.axes + 4 * m + (byJ > 0 ? 1 : 0) + (byK > 0 ? 2 : 0);
        if (byK === 0) at = 2 * j + (byJ > 0 ? 1 : 0);
        if (byJ === 0) at = 2 * k + (byK > 0 ? 1 : 0);
        env.addEntry({ launch, grid, node, row, t, entry: { at, weight, j, byJ, k, byK } });
      }
    },
  });

/**
 * Returns the function that assembles the system (I − hL)·y = u, with each row divided by its diagonal. It computes the
 * inverse of the diagonal, the part of the source, and the entries for the neighbours. A knocked-out node has a row of
 * the identity, whose right-hand side is its prescribed value.
 *
 * Cost: about that of two matrix–vector products for each axis. The matrix is stored and serves all time steps of the
 * same length.
 */
export const assemble = (variant: GridVariant) =>
  fn({
    name: "assemble",
    params: { launch: Launch, grid: Grid, t: real, h: real, mask: i32, row: i32, found: FirstFault },
    env: {
      axes: variant.axes.length,
      pairs: variant.pairs.length,
      neighbours: neighboursOf(variant),
      GROUP: variant.groupSize,
      coefficients: variant.coefficients,
      inside: variant.region?.inside,
      insideValue: variant.region?.value,
      nodeOf: nodeOf(variant),
      linearIndexOf: linearIndexOf(variant),
      coefficientFault: coefficientFault(variant.axes.length, variant.pairs),
      addAxis: addAxis(variant),
      addCorner: addCorner(variant),
      ...slot,
      DIAGONAL,
      SOURCE_SUM: SOURCE,
      badPinned: FAULT.pinned,
    },
    body({ launch, grid, t, h, mask, row, found }, gpu, env) {
      const { work, parameters, instances } = launch;
      const { base, pitch, unknowns, rounds, item } = grid;
      const { axes, pairs, neighbours, GROUP, coefficients, inside, insideValue, nodeOf, addAxis, addCorner } = env;
      const { U, INVERSE, SOURCE, MATRIX } = env;
      const node = { index: gpu.privateI32(axes), x: gpu.privateReal(axes) };
      const c = gpu.privateReal(2 * axes + 2 + pairs);
      const first = gpu.privateReal(3 * axes);
      const entries = gpu.privateReal(neighbours);
      const sums = gpu.privateReal(2);
      let { fault, node: faulty, row: faultRow } = found;
      for (let r = 0; r < rounds; r++) {
        const i = r * GROUP + item;
        nodeOf({ launch, grid, i, node });
        const state = { t, x: node.x, parameters: { values: parameters, pitch: instances, instance: grid.instance } };
        coefficients({ state, out: c });
        let bad = env.coefficientFault(c);
        for (let k = 0; k < neighbours; k++) entries[k] = 0;
        sums[env.DIAGONAL] = c[2 * axes];
        sums[env.SOURCE_SUM] = c[2 * axes + 1];
        const rows = { entries, sums };
        // Unrolled, they were most of the kernel: on five axes with mixed derivatives it took seconds to compile.
        for (let k = 0; k < launch.axes; k++) addAxis({ launch, grid, node, row: rows, t, h, k, c, first });
        if (pairs > 0)
          for (let q = 0; q < 9 * launch.pairs; q++) addCorner({ launch, grid, node, row: rows, t, q, c, first });
        let inverse = 1 / (1 - h * sums[env.DIAGONAL]);
        let source = h * sums[env.SOURCE_SUM] * inverse;
        let scale = -h * inverse;
        if (inside !== undefined && insideValue !== undefined) {
          if (inside({ state, mask })) {
            inverse = 0.0;
            scale = 0.0;
            source = insideValue({ state, mask });
            work[base + U * pitch + i] = source;
            bad = 0;
          }
        }
        if (bad === 0 && !Number.isFinite(source)) bad = env.badPinned;
        if (bad !== 0 && fault === 0) {
          fault = bad;
          faulty = env.linearIndexOf({ launch, grid, index: node.index });
          faultRow = row;
        }
        const isUnknown = i < unknowns;
        work[base + INVERSE * pitch + i] = isUnknown ? inverse : 0.0;
        work[base + SOURCE * pitch + i] = isUnknown ? source : 0.0;
        for (let k = 0; k < neighbours; k++)
          work[base + (MATRIX + k) * pitch + i] = isUnknown ? scale * entries[k] : 0.0;
      }
      return { fault, node: faulty, row: faultRow };
    },
  });
