/** The reference cases against their published or recomputed values, and against the CPU in f64. */
import {
  allowedError,
  type ComparedMethod,
  HONEST,
  type ReferenceError,
  referenceErrors,
  solvableTrades,
} from "../../../test/pricing/reference-errors.ts";
import { type ReferenceTrade, referenceTrades } from "../../../test/pricing/reference.ts";
import { compiledAs } from "../compiled-as.ts";
import { type Check, type Context, type Family, type Group, once, some, type Target } from "../check.ts";

const METHODS: readonly ComparedMethod[] = ["auto", "fdm"];

export const reference: Family = (target, context) => {
  const trades = { auto: referenceTrades(), fdm: solvableTrades() };
  return METHODS.flatMap((method) => groupsOf(target, context, method, some(trades[method], context, 8)));
};

/**
 * Of the CPU's value in f64, over spot: rounding, of 48 bits or 53, adds up over the steps, and cancels in the payoff.
 */
const OF_CPU = 1e-9;

function groupsOf(
  target: Target,
  { cpu }: Context,
  method: ComparedMethod,
  trades: readonly ReferenceTrade[],
): Group[] {
  const { precision } = target;
  const device = compiledAs(target);
  const errors = once(() => referenceErrors(device, { precision, method }, trades));
  const unit = "of spot";
  const values: Group = {
    family: `reference cases, ${method}`,
    unit,
    checks: [...trades.map((trade, i) => value(trade, target, async () => (await errors())[i])), honesty(errors)],
  };
  if (precision === "f32" || target.device === cpu) return [values];
  const expected = once(() => referenceErrors(cpu, { precision: "f64", method }, trades));
  const checks = trades.map((trade, i) => difference(trade, async () => [(await errors())[i], (await expected())[i]]));
  return [values, { family: `reference cases, ${method}, against the CPU`, unit, checks }];
}

function value(reference: ReferenceTrade, { precision }: Target, one: () => Promise<ReferenceError>): Check {
  return {
    name: reference.trade.id,
    async run() {
      const { id, value, error, overSpot } = await one();
      const allowed = allowedError(reference, precision);
      const failure = `${id}: ${value}, expected ${reference.expected["price"]} ± ${allowed}`;
      return { error: overSpot, failure: error <= allowed ? undefined : failure };
    },
  };
}

/** Of fewer than twenty cases, as a quick run has, a single one is more than a twentieth. */
const isOneOfFew = (missed: number, all: number): boolean => missed <= 1 && all < 20;

function honesty(errors: () => Promise<readonly ReferenceError[]>): Check {
  return {
    name: "error estimates",
    async run() {
      const all = await errors();
      const missed = all.filter(({ honest }) => !honest).length;
      const part = 1 - missed / all.length;
      const failure = `${(100 * part).toFixed(1)} % of error estimates hold, expected ${100 * HONEST} %`;
      return { error: 0, failure: part >= HONEST || isOneOfFew(missed, all.length) ? undefined : failure };
    },
  };
}

function difference({ trade }: ReferenceTrade, both: () => Promise<[ReferenceError, ReferenceError]>): Check {
  return {
    name: trade.id,
    async run() {
      const [got, expected] = await both();
      const error = Math.abs(got.value - expected.value) / trade.underlying.spot;
      const failure = `${got.id}: ${got.value}, on the CPU ${expected.value}`;
      return { error, failure: error <= OF_CPU ? undefined : failure };
    },
  };
}
