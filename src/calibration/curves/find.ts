/**
 * Finds curves that reprice quotes, by exact derivatives: all curves that need each other at once by Newton's method,
 * after those that they need without being needed by them; a curve with fewer parameters than quotes by least squares.
 */
import { Curve, type CurveRule, type PreparedFlows, Valuation } from "../../market/linear/index.ts";
import { leastSquares } from "../least-squares.ts";
import { CurveError, type CurveSet, type CurveToFind } from "./curve-set.ts";
import { firstDependent, solveDense, subtract } from "./dense.ts";
import { findHazards } from "./hazards.ts";
import { inOrderOfNeed } from "./order.ts";

const MAX_STEPS = 50;
const START = 0.02;

/**
 * Finds curves from quotes.
 * @throws CurveError for two instruments of a curve with one pillar, or quotes that no curves reproduce
 */
export function findCurves(known: readonly Curve[], wanted: readonly CurveToFind[]): CurveSet {
  return new Search(known, wanted).run();
}

/** Starts of both decays of Svensson's curve, in years. */
const DECAYS: readonly (readonly [number, number])[] = [
  [0.5, 3],
  [1, 5],
  [1.5, 10],
  [2.5, 15],
  [0.3, 1.5],
];
const PARAMETERS = { lower: [-1, -2, -2, -2, 0.05, 0.05], upper: [1, 2, 2, 2, 50, 50], maxEvaluations: 400 };

/** An instrument with its flows prepared for the valuation. */
interface Prepared {
  readonly quote: number;
  readonly flows: PreparedFlows;
  readonly byQuote: PreparedFlows;
}

class Search {
  readonly #wanted: readonly CurveToFind[];
  readonly #orders: readonly (readonly number[])[];
  readonly #curves: Curve[];
  readonly #first: number;
  readonly #on: Valuation;
  /** The instruments of each found curve in the order of their pillars. */
  readonly #instruments: readonly (readonly Prepared[])[];
  /** The number of the first unknown of each found curve, and of all. */
  readonly #offsets: readonly number[];
  readonly #size: number;
  /** The curves in an order in which they can be found, those that need each other together. */
  readonly #blocks: readonly (readonly number[])[];

  constructor(known: readonly Curve[], wanted: readonly CurveToFind[]) {
    this.#wanted = wanted;
    this.#first = known.length;
    this.#orders = wanted.map(({ instruments }) =>
      instruments.map((_, i) => i).sort((a, b) => instruments[a].pillar - instruments[b].pillar || a - b),
    );
    this.#curves = [...known, ...wanted.map((one, c) => startOf(one, c, this.#orders[c]))];
    this.#on = new Valuation(this.#curves);
    this.#instruments = wanted.map(({ instruments }, c) =>
      this.#orders[c].map((i) => {
        const { quote, flows, byQuote } = instruments[i];
        return { quote, flows: this.#on.prepare(flows), byQuote: this.#on.prepare(byQuote) };
      }),
    );
    let size = 0;
    this.#offsets = wanted.map((_, c) => (size += this.#curves[this.#first + c].zeros.length) - this.#zeros(c).length);
    this.#size = size;
    this.#blocks = inOrderOfNeed(wanted.map((one) => neededBy(one).map((c) => c - this.#first)));
  }

  #zeros(c: number): Float64Array {
    return this.#curves[this.#first + c].zeros;
  }

  run(): CurveSet {
    let [error, hasConverged] = [0, true];
    for (const block of this.#blocks) {
      const fit = block.find((c) => this.#wanted[c].rule === "svensson");
      if (fit === undefined) error = Math.max(error, this.#solve(block));
      else {
        if (block.length > 1)
          throw new CurveError(fit, 0, `${this.#wanted[fit].name}: other curves need it, and it needs them`);
        hasConverged = this.#fit(fit) && hasConverged;
      }
    }
    const fitted = this.#wanted.map((_, c) => this.#quotes([c]));
    return {
      curves: this.#curves,
      orders: this.#orders,
      fitted,
      hasConverged,
      byQuotes: () => this.#byQuotes(),
      error,
    };
  }

  /** Returns the quotes that the curves give: q = −V/A, of the value V at a quote of zero and its change A by it. */
  #quotes(block: readonly number[]): number[] {
    return block.flatMap((c) => this.#instruments[c].map((one) => this.#quote(one)));
  }

  #quote({ flows, byQuote }: Prepared): number {
    return -this.#on.value(flows) / this.#on.value(byQuote);
  }

  /** Returns the derivatives of the quotes that curves give by all unknowns: −(dV + q·dA)/A. */
  #jacobian(block: readonly number[]): Float64Array[] {
    return block.flatMap((c) =>
      this.#instruments[c].map(({ flows, byQuote }) => {
        const annuity = this.#on.value(byQuote);
        const quote = -this.#on.value(flows) / annuity;
        const row = new Float64Array(this.#size);
        this.#on.addSlopes(flows, -1 / annuity);
        this.#on.addSlopes(byQuote, -quote / annuity);
        this.#on.takeSlopes((curve, node, slope) => {
          if (curve >= this.#first) row[this.#offsets[curve - this.#first] + node] += slope;
        });
        return row;
      }),
    );
  }

  /** The numbers of the unknowns of curves. */
  #unknowns(block: readonly number[]): number[] {
    return block.flatMap((c) => Array.from(this.#zeros(c), (_, k) => this.#offsets[c] + k));
  }

  #set(block: readonly number[], values: ArrayLike<number>): void {
    let at = 0;
    for (const c of block) {
      const zeros = this.#zeros(c);
      for (let k = 0; k < zeros.length; k++) zeros[k] = values[at++];
      this.#on.refresh(this.#first + c);
    }
  }

  /** Finds curves that have a node for each quote. Returns the largest error of a quote. */
  #solve(block: readonly number[]): number {
    // No other curve needs survival probabilities.
    if (this.#wanted[block[0]].isSurvival === true) return this.#hazards(block[0]);
    const shaped = block.filter((c) => this.#wanted[c].rule === "monotone-convex");
    // The curve with piecewise constant forward rates is near the monotone convex one.
    if (shaped.length > 0) {
      this.#shape(shaped, "log-discount");
      this.#newton(block);
      this.#shape(shaped, "monotone-convex");
    }
    const error = this.#newton(block);
    this.#check(block, error);
    return error;
  }

  /** Finds a curve of survival probabilities. Returns the largest error of a quote. */
  #hazards(c: number): number {
    const { instruments } = this.#wanted[c];
    const quotes = this.#instruments[c].map((one, k) => ({
      name: instruments[this.#orders[c][k]].name,
      quote: one.quote,
      given: () => {
        this.#on.refresh(this.#first + c);
        return this.#quote(one);
      },
    }));
    findHazards(this.#curves[this.#first + c], quotes, (k, why) => {
      throw new CurveError(c, this.#orders[c][k], `${quotes[k].name}: ${why}`);
    });
    const error = Math.max(...quotes.map(({ quote, given }) => Math.abs(given() - quote)));
    this.#check([c], error);
    return error;
  }

  #shape(block: readonly number[], rule: CurveRule): void {
    for (const c of block) {
      const { times, zeros, turns } = this.#curves[this.#first + c];
      this.#curves[this.#first + c] = new Curve(times, zeros, rule, turns);
      this.#on.refresh(this.#first + c);
    }
  }

  #newton(block: readonly number[]): number {
    const instruments = block.flatMap((c) => this.#instruments[c]);
    const unknowns = this.#unknowns(block);
    let error = Infinity;
    for (let step = 0; step < MAX_STEPS; step++) {
      const off = this.#quotes(block).map((quote, k) => quote - instruments[k].quote);
      const before = error;
      error = off.reduce((most, one) => Math.max(most, Math.abs(one)), 0);
      if (Number.isNaN(error) || error < 1e-15 || (error < 1e-12 && error >= before)) break;
      const change = solveDense(
        this.#jacobian(block).map((row) => taken(row, unknowns)),
        off.map((one) => Float64Array.of(one)),
      );
      let at = 0;
      this.#set(
        block,
        block.flatMap((c) => Array.from(this.#zeros(c), (zero) => zero - change[at++][0])),
      );
    }
    return error;
  }

  /** @throws CurveError for a quote that follows from others, or that the curves do not reproduce */
  #check(block: readonly number[], error: number): void {
    // Ends of one curve's instruments differ, so that none follows from the others.
    if (error < 1e-10 && block.length === 1) return;
    const owners = block.flatMap((c) => this.#instruments[c].map((_, k) => [c, k] as const));
    const fail = (at: number, why: string): never => {
      const [c, k] = owners[at];
      const place = this.#orders[c][k];
      throw new CurveError(c, place, `${this.#wanted[c].instruments[place].name}: ${why}`);
    };
    const quotes = this.#quotes(block);
    // Where Newton's method has lost its way, the slopes are those of flat curves.
    const isLost = block.some((c) => !this.#zeros(c).every(Number.isFinite));
    const unknowns = this.#unknowns(block);
    if (isLost) this.#set(block, new Float64Array(unknowns.length));
    const rows = this.#jacobian(block).map((row) => taken(row, unknowns));
    const dependent = firstDependent(rows);
    if (dependent >= 0)
      fail(dependent, "it follows from the other quotes, which leave a curve open; quote one curve without the others");
    if (error < 1e-10) return;
    const worst = quotes.findIndex((quote, k) => {
      const [c, i] = owners[k];
      return !(Math.abs(quote - this.#instruments[c][i].quote) < 1e-10);
    });
    const why = "no curve reproduces this quote beside the others";
    const [c] = block;
    // The first quote that those which end before it leave no curve for.
    if (block.length === 1)
      for (let count = 1; count < quotes.length; count++) if (!this.#isFoundFrom(c, count)) fail(count - 1, why);
    fail(block.length === 1 ? quotes.length - 1 : worst, why);
  }

  /** Returns whether the first quotes of a curve alone have one. */
  #isFoundFrom(c: number, count: number): boolean {
    const first = this.#orders[c].slice(0, count).map((i) => this.#wanted[c].instruments[i]);
    const needed = new Set(
      this.#blocks
        .slice(
          0,
          this.#blocks.findIndex((block) => block.includes(c)),
        )
        .flat(),
    );
    const wanted = this.#wanted.map((one, i) => {
      const instruments = i === c ? first : needed.has(i) ? one.instruments : [];
      return { ...one, rule: i === c ? ("log-discount" as const) : one.rule, instruments };
    });
    try {
      findCurves(this.#curves.slice(0, this.#first), wanted);
      return true;
    } catch (error) {
      if (error instanceof CurveError) return false;
      throw error;
    }
  }

  /** Fits a curve to its quotes by least squares, from several starts. Returns whether it has converged. */
  #fit(c: number): boolean {
    const instruments = this.#instruments[c];
    const unknowns = this.#unknowns([c]);
    const evaluate = (point: Float64Array) => {
      this.#set([c], point);
      const residuals = Float64Array.from(this.#quotes([c]), (quote, k) => quote - instruments[k].quote);
      return {
        residuals,
        jacobian: Float64Array.from(this.#jacobian([c]).flatMap((row) => unknowns.map((k) => row[k]))),
      };
    };
    const [near, far] = [instruments[0].quote, instruments[instruments.length - 1].quote];
    const fits = DECAYS.map(([first, second]) =>
      leastSquares([far, near - far, 0, 0, first, second], PARAMETERS, evaluate),
    );
    const best = fits.reduce((a, b) => (b.sum < a.sum ? b : a));
    this.#set([c], best.point);
    return best.status === "converged";
  }

  #byQuotes(): readonly Float64Array[] {
    let columns = 0;
    const firsts = this.#instruments.map((of) => (columns += of.length) - of.length);
    const rows: Float64Array[] = Array.from({ length: this.#size }, () => new Float64Array(columns));
    for (const block of this.#blocks) {
      const own = this.#unknowns(block);
      const isOwn = new Set(own);
      const [system, sides] =
        this.#wanted[block[0]].rule === "svensson" ? this.#stationary(block[0]) : this.#exact(block);
      // What the block's equations change by quotes, directly and by other curves that it needs.
      const right = sides.map((side, i) => {
        const all = new Float64Array(columns);
        let at = 0;
        for (const c of block) for (let k = 0; k < this.#instruments[c].length; k++) all[firsts[c] + k] = side[at++];
        for (let k = 0; k < this.#size; k++) if (!isOwn.has(k)) subtract(all, rows[k], system[i][k]);
        return all;
      });
      const found = solveDense(
        system.map((row) => taken(row, own)),
        right,
      );
      own.forEach((k, i) => rows[k].set(found[i]));
    }
    return rows;
  }

  /** The equations of curves with a node for each quote: their derivatives by all unknowns, and by the quotes. */
  #exact(block: readonly number[]): readonly [Float64Array[], Float64Array[]] {
    const rows = this.#jacobian(block);
    return [rows, rows.map((_, i) => Float64Array.from(rows, (__, k) => (k === i ? 1 : 0)))];
  }

  /** The same of a fit: its equations are Jᵀr = 0 for the parameters within their bounds. */
  #stationary(c: number): readonly [Float64Array[], Float64Array[]] {
    const instruments = this.#instruments[c];
    const own = this.#unknowns([c]);
    const gradient = (): number[] => {
      const off = this.#quotes([c]).map((quote, k) => quote - instruments[k].quote);
      const rows = this.#jacobian([c]);
      return own.map((k) => rows.reduce((sum, row, i) => sum + row[k] * off[i], 0));
    };
    const rows = this.#jacobian([c]);
    const needed = new Set([c, ...neededBy(this.#wanted[c]).map((one) => one - this.#first)].filter((one) => one >= 0));
    const system = own.map(() => new Float64Array(this.#size));
    for (const one of needed) {
      const zeros = this.#zeros(one);
      for (let k = 0; k < zeros.length; k++) {
        const value = zeros[k];
        const step = 1e-5 * Math.max(Math.abs(value), 0.01);
        const [up, down] = [step, -step].map((move) => {
          zeros[k] = value + move;
          this.#on.refresh(this.#first + one);
          return gradient();
        });
        zeros[k] = value;
        this.#on.refresh(this.#first + one);
        up.forEach((high, i) => (system[i][this.#offsets[one] + k] = (high - down[i]) / (2 * step)));
      }
    }
    const sides = own.map((k) => Float64Array.from(rows, (row) => row[k]));
    // A parameter at a bound stays there.
    own.forEach((k, i) => {
      const value = this.#zeros(c)[i];
      if (value > PARAMETERS.lower[i] && value < PARAMETERS.upper[i]) return;
      system[i].fill(0)[k] = 1;
      sides[i].fill(0);
    });
    return [system, sides];
  }
}

/** The curve before the search. @throws CurveError for two instruments with one pillar, or too few of them */
function startOf({ name, rule, turns, instruments }: CurveToFind, c: number, order: readonly number[]): Curve {
  const times = order.map((i) => instruments[i].pillar);
  if (rule === "svensson") return new Curve(times, [START, 0, 0, 0, ...DECAYS[0]], rule, turns);
  times.forEach((time, k) => {
    if (!(time - (times[k - 1] ?? 0) > 1e-9)) {
      const before = k === 0 ? "the curve begins" : `${instruments[order[k - 1]].name}, too`;
      throw new CurveError(c, order[k], `${name}: ${instruments[order[k]].name} ends when ${before}; leave one out`);
    }
  });
  return new Curve(
    times,
    times.map(() => START),
    rule,
    turns,
  );
}

/** The numbers of the curves on which a curve's instruments depend. */
function neededBy({ instruments }: CurveToFind): number[] {
  const isNeeded: boolean[] = [];
  for (const { flows, byQuote } of instruments)
    for (const list of [flows, byQuote])
      for (const { factors, growth, atDefault } of list) {
        for (const { curve } of factors) isNeeded[curve] = true;
        if (atDefault !== undefined) isNeeded[atDefault.discount] = isNeeded[atDefault.survival] = true;
        if (growth !== undefined && growth.periods.length > 0) isNeeded[growth.curve] = true;
      }
  return [...isNeeded.keys()].filter((curve) => isNeeded[curve]);
}

/** The values of a row at some columns. */
function taken(row: Float64Array, columns: readonly number[]): Float64Array {
  const values = new Float64Array(columns.length);
  for (let k = 0; k < columns.length; k++) values[k] = row[columns[k]];
  return values;
}
