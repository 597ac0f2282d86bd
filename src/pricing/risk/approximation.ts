/** Values under named scenarios by an expansion in the sensitivities of today, in the place of revaluations. */
import {
  type AnyTrade,
  type AssetSensitivities,
  type LinearTrade,
  type ParsedTrade,
  type PricedTrade,
  type ScenarioFactor,
  type ScenarioTable,
} from "../../book/index.ts";
import { integrate, type PairPower, type Underlying } from "../../market/index.ts";
import { kindOf } from "../kinds.ts";
import type { RateSlopes } from "../plan/kind.ts";
import { forwardMove } from "../plan/moves-by-maturity.ts";
import { conversionRates } from "../reporting.ts";
import { FactorMoves, factorsOf } from "../scenarios/cells.ts";

/** A factor that scenarios move and for which some trades have no sensitivity, so that its effect is left out. */
export interface MissingSensitivity {
  /** The factor as tables of scenarios name it, such as `dividend.SAP`; two of them for a cross gamma. */
  readonly factor: string;
  readonly sensitivity: string;
  readonly trades: number;
  /** The number of scenarios that move the factor. */
  readonly scenarios: number;
}

/**
 * The delta–gamma approximation of the values of trades under the scenarios of a table. With moves ΔS of spots, Δσ of
 * volatilities, Δr of rates, Δh of credit and Δt of the date,
 *
 *   V ≈ V₀ + Σ Δᵢ·ΔSᵢ + ½·Σ Γᵢⱼ·ΔSᵢ·ΔSⱼ + Σ vegaᵢ·Δσᵢ + Σ ρ·Δr + V_h·Δh + θ·Δt
 *
 * in the currency of the trade. The rates at which values are reported in another currency are those of the scenarios.
 * A yield counts as a move of the spot, S·e^(−Δq·T), where a value depends on the forward of one date T alone.
 *
 * Error: of third order in a move of spots, of second order in all others and in joint moves of them. What results have
 * no sensitivity for is left out and listed (`missing`). Cost: a few operations for each scenario and factor.
 * Verified: test/pricing/approximation.test.ts, orders, linear trades and currencies.
 */
export class Approximation {
  readonly #moves: FactorMoves;
  readonly #missing = new Map<string, MissingSensitivity>();

  constructor(table: ScenarioTable) {
    this.#moves = new FactorMoves(table);
  }

  /** What trades have no sensitivities for, in the order of the first trades. */
  get missing(): readonly MissingSensitivity[] {
    return [...this.#missing.values()];
  }

  /** Returns a result with approximated values under the scenarios; all sensitivities are needed (`greeks: "all"`). */
  resultOf(parsed: ParsedTrade, result: PricedTrade): PricedTrade {
    if (!parsed.ok) return result;
    const { table } = this.#moves;
    const expansion = new Expansion(parsed.trade, result, this.#moves);
    expansion.add();
    for (const one of expansion.missing) {
      const key = `${one.sensitivity} ${one.factor}`;
      this.#missing.set(key, { ...one, trades: (this.#missing.get(key)?.trades ?? 0) + 1 });
    }
    const { reporting } = result;
    const rates = parsed.reporting && conversionRates(parsed.reporting, table);
    return {
      ...result,
      scenarioValues: Array.from(expansion.change, (change) => result.value + change),
      scenarioValueErrorEstimates: table.names.map(() => null),
      ...(reporting === undefined ? {} : { reporting: { ...reporting, scenarioValueRates: rates! } }),
    };
  }
}

type Moves = Float64Array;
const isMoved = (moves: Moves): boolean => moves.some((by) => by !== 0);

/** A spot with its moves under all scenarios, in its currency. */
interface Spot extends Pick<AssetSensitivities, "delta" | "gamma"> {
  readonly name: string;
  /** The factors that move it, as tables name them. */
  readonly factor: string;
  readonly moves: Moves;
}

const NONE: AssetSensitivities = { delta: null, gamma: null, vega: null };
const ZERO: AssetSensitivities = { delta: 0, gamma: 0, vega: 0 };

/** The change of one trade's value under all scenarios. */
class Expansion {
  readonly change: Float64Array;
  readonly missing: MissingSensitivity[] = [];
  readonly #trade: AnyTrade;
  readonly #result: PricedTrade;
  readonly #moves: FactorMoves;
  readonly #factors: readonly ScenarioFactor[];

  constructor(trade: AnyTrade, result: PricedTrade, moves: FactorMoves) {
    [this.#trade, this.#result, this.#moves] = [trade, result, moves];
    this.change = new Float64Array(moves.table.names.length);
    this.#factors = [...factorsOf(kindOf(trade), trade).values()];
  }

  add(): void {
    this.#addFirst(this.#result.theta, "theta", "time", this.#moves.table.years);
    this.#addSpots("legs" in this.#trade ? this.#pairs(this.#trade) : this.#spots());
    for (const factor of this.#factors) {
      const { kind } = factor;
      if (kind === "volatility" || kind === "skew") this.#addVolatility(factor);
      if (kind === "rateVolatility")
        this.#addFirst(this.#result.vega, "vega", nameOf(factor), this.#moves.column(factor));
      if (kind === "credit")
        this.#addFirst(this.#byCredit(), "credit sensitivity", nameOf(factor), this.#moves.column(factor));
    }
    this.#addRates(this.#factors.filter(({ kind }) => kind === "rate"));
  }

  #miss(sensitivity: string, factor: string, moves: Moves): void {
    const scenarios = moves.reduce((count, by) => (by === 0 || Number.isNaN(by) ? count : count + 1), 0);
    if (scenarios > 0) this.missing.push({ factor, sensitivity, trades: 1, scenarios });
  }

  #addFirst(slope: number | null, sensitivity: string, factor: string, moves: Moves): void {
    if (slope === null) this.#miss(sensitivity, factor, moves);
    else if (slope !== 0) for (let s = 0; s < moves.length; s++) this.change[s] += slope * moves[s];
  }

  #addSpots(spots: readonly Spot[]): void {
    const moved = spots.filter(({ moves }) => isMoved(moves));
    moved.forEach(({ name, factor, moves, delta, gamma }, i) => {
      this.#addFirst(delta, "delta", factor, moves);
      this.#addProduct(gamma, "gamma", factor, [moves, moves], 0.5);
      if (delta === 0 && gamma === 0) return;
      for (const other of moved.slice(i + 1)) {
        if (other.delta === 0 && other.gamma === 0) continue;
        const known = this.#result.crossGamma?.find(
          ([a, b]) => (a === name && b === other.name) || (a === other.name && b === name),
        );
        this.#addProduct(known?.[2] ?? null, "cross gamma", `${factor}, ${other.factor}`, [moves, other.moves], 1);
      }
    });
  }

  #addProduct(
    slope: number | null,
    sensitivity: string,
    factor: string,
    [a, b]: readonly [Moves, Moves],
    part: number,
  ): void {
    this.#addFirst(
      slope === null ? null : part * slope,
      sensitivity,
      factor,
      a.map((by, s) => by * b[s]),
    );
  }

  /** Returns the spots of a trade on underlyings, and of the currency pairs in which it is paid. */
  #spots(): readonly Spot[] {
    const trade = this.#trade;
    if (!("underlying" in trade)) return [];
    const settlement = "settlement" in trade ? trade.settlement : undefined;
    const own = new Map(assetsOf(trade).map((underlying) => [underlying.name, underlying]));
    const spots = [...own.values()].map((underlying): Spot => {
      const { name, spot, pair } = underlying;
      const moves = pair === undefined ? this.#withYield(underlying) : this.#exchange(pair.quoted);
      const factor = pair === undefined ? `spot.${name}` : namesOf(pair.quoted);
      return { name, factor, moves: moves.map((by) => by * spot), ...this.#sensitivityOf(name) };
    });
    for (const rate of settlement?.exchange ?? []) {
      if (rate === undefined || spots.some(({ name }) => name === rate.pair)) continue;
      const moves = this.#exchange(rate.quoted).map((by) => by * rate.spot);
      spots.push({ name: rate.pair, factor: namesOf(rate.quoted), moves, ...this.#sensitivityOf(rate.pair) });
    }
    return spots;
  }

  #sensitivityOf(name: string): AssetSensitivities {
    const { sensitivities, delta, gamma, vega } = this.#result;
    const trade = this.#trade;
    const known = sensitivities?.[name];
    if (known !== undefined) return known;
    const isFixed = "settlement" in trade && trade.settlement?.fixings !== undefined;
    if (isFixed || (delta === 0 && gamma === 0 && vega === 0)) return ZERO;
    const isOwn = "underlying" in trade && trade.underlying.name === name && assetsOf(trade).length === 1;
    return isOwn ? { delta, gamma, vega } : NONE;
  }

  /** Returns the relative moves of a pair that follows from quoted ones. */
  #exchange(quoted: readonly PairPower[]): Moves {
    const columns = quoted.map(({ pair, power }) => ({ moves: this.#moves.column({ kind: "fx", of: pair }), power }));
    return this.change.map((_, s) => columns.reduce((all, { moves, power }) => all * (1 + moves[s]) ** power, 1) - 1);
  }

  /** Returns the relative moves of a spot, with those of its yield where these act as it does. */
  #withYield({ name, dividends }: Underlying): Moves {
    const spots = this.#moves.column({ kind: "spot", of: name });
    const yields = this.#moves.column({ kind: "dividend", of: name });
    if (!isMoved(yields)) return spots;
    const isOnForward = onForwardAlone(this.#trade, this.#result) && dividends.discrete.every(({ cash }) => cash === 0);
    if (!isOnForward) {
      const { delta, gamma } = this.#sensitivityOf(name);
      if (delta !== 0 || gamma !== 0) this.#miss("yield sensitivity", `dividend.${name}`, yields);
      return spots;
    }
    const { expiry } = this.#trade;
    return spots.map((by, s) => (1 + by) * Math.exp(-yields[s] * expiry) - 1);
  }

  /** Returns the currency pairs of a linear trade. */
  #pairs(trade: LinearTrade): readonly Spot[] {
    const slopes = kindOf(trade).byPair!(trade);
    const spots = new Map(trade.legs.flatMap(({ conversion }) => conversion.map(({ pair, spot }) => [pair, spot])));
    return Array.from(slopes, ([name, delta]) => ({
      name,
      factor: `fx.${name}`,
      moves: this.#moves.column({ kind: "fx", of: name }).map((by) => by * spots.get(name)!),
      delta,
      gamma: trade.pair?.name === name ? this.#result.gamma : null,
    }));
  }

  /** Adds moves of a volatility, of which only those of all expiries and strikes together have a sensitivity. */
  #addVolatility(factor: ScenarioFactor): void {
    const { vega } = this.#sensitivityOf(factor.of);
    if (factor.kind === "skew") {
      if (vega !== 0) this.#miss("sensitivity to the skew", nameOf(factor), this.#moves.column(factor));
      return;
    }
    this.#addFirst(vega, "vega", nameOf(factor), this.#moves.column(factor));
    if (vega !== 0) this.#miss("vega by expiry", nameOf(factor), this.#byMaturity(factor));
  }

  /** Returns 1 for scenarios that move a factor by maturity, and 0 for others. */
  #byMaturity(factor: ScenarioFactor): Moves {
    const parts = this.#moves.maturities(factor).map((part) => this.#moves.column(part));
    return this.change.map((_, s) => (parts.some((moves) => moves[s] !== 0 && !Number.isNaN(moves[s])) ? 1 : 0));
  }

  #byCredit(): number | null {
    const trade = this.#trade;
    if ("credit" in trade && trade.credit === undefined) return 0;
    return this.#result.creditSensitivity ?? null;
  }

  /**
   * Adds moves of rates: by currency where slopes are known so, and by rho where a trade depends on one currency or all
   * of its currencies move by the same.
   */
  #addRates(factors: readonly ScenarioFactor[]): void {
    const { rho } = this.#result;
    const columns = factors.map((factor) => this.#moves.column(factor));
    const slopes = this.#byRates(factors);
    factors.forEach((factor, f) => {
      const name = nameOf(factor);
      const byMaturity = this.#byMaturity(factor);
      const nodes = slopes?.get(factor.of)?.nodes;
      if (nodes !== undefined) this.#addByNodes(factor, nodes);
      else if (rho !== 0) this.#miss("rho by maturity", name, byMaturity);
      if (slopes !== undefined) this.#addFirst(slopes.get(factor.of)?.parallel ?? 0, "rho", name, columns[f]);
    });
    if (slopes !== undefined || rho === 0) return;
    const isCommon = (s: number): boolean => columns.every((moves) => moves[s] === columns[0][s]);
    const common = this.change.map((_, s) => (columns.length > 0 && isCommon(s) ? columns[0][s] : 0));
    const names = factors.map(nameOf).join(", ");
    this.#addFirst(rho, "rho", names, common);
    const apart = this.change.map((_, s) => (isCommon(s) ? 0 : 1));
    if (columns.length > 0) this.#miss("rho by currency", names, apart);
  }

  /** Returns the slopes by the rates of each currency; undefined where only their sum is known. */
  #byRates(factors: readonly ScenarioFactor[]): ReadonlyMap<string, RateSlopes> | undefined {
    const trade = this.#trade;
    const own = kindOf(trade).byRates?.(trade);
    if (own !== undefined) return own;
    const { rho, keyRates, fx } = this.#result;
    if (factors.length === 1 && rho !== null) return new Map([[factors[0].of, { parallel: rho, nodes: keyRates }]]);
    const pair = "underlying" in trade ? trade.underlying.pair : undefined;
    if (pair === undefined || fx === undefined || fx.rhoDomestic === null || fx.rhoForeign === null) return undefined;
    return new Map([
      [this.#result.currency, { parallel: fx.rhoDomestic, nodes: undefined }],
      [pair.base, { parallel: fx.rhoForeign, nodes: undefined }],
    ]);
  }

  /** Adds moves of zero rates by maturity: Δz·t at a node is the integral of the move of the forward rates. */
  #addByNodes(factor: ScenarioFactor, nodes: NonNullable<RateSlopes["nodes"]>): void {
    const parts = this.#moves.maturities(factor).map((part) => ({ at: part.at!, moves: this.#moves.column(part) }));
    const { years } = this.#moves.table;
    if (parts.length === 0) return;
    for (let s = 0; s < years.length; s++) {
      const moves = parts.flatMap(({ at, moves: all }) => (Number.isNaN(all[s]) ? [] : [{ at, by: all[s] }]));
      if (moves.length === 0) continue;
      const forward = forwardMove(0, moves);
      for (const [time, slope] of nodes)
        if (time > 0) this.change[s] += (slope * integrate(forward, Math.max(time - years[s], 0))) / time;
    }
  }
}

const nameOf = ({ kind, of }: ScenarioFactor): string => `${kind}.${of}`;
const namesOf = (quoted: readonly PairPower[]): string => quoted.map(({ pair }) => `fx.${pair}`).join(", ");

const assetsOf = (trade: Extract<AnyTrade, { readonly underlying: Underlying }>): readonly Underlying[] =>
  (("assets" in trade ? trade.assets : undefined) ?? [trade]).map(({ underlying }) => underlying);

/** The methods, as results name them, by which a value depends on the spot and the yield by the forward alone. */
const ON_FORWARD: readonly string[] = ["black-scholes", "heston"];

/** Tells whether a value depends on the spot and its yield by the forward at expiry alone. */
function onForwardAlone(trade: AnyTrade, { method }: PricedTrade): boolean {
  if (trade.kind === "forward") return true;
  if (trade.kind !== undefined || trade.assets !== undefined || trade.settlement !== undefined) return false;
  if (trade.exercise.kind !== "european" || trade.barriers.length > 0) return false;
  return ON_FORWARD.includes(method) && (trade.payoff.kind === "vanilla" || trade.payoff.kind === "digital");
}
