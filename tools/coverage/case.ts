/** A random trade with its market and an independent reference, and families of such trades. */
import type { Method } from "../../src/pricing/index.ts";
import type { Random } from "../properties/random.ts";

export type Json = Readonly<Record<string, unknown>>;

/** What a trade is worth, and how far that may be off. */
export interface Known {
  readonly value: number;
  readonly error: number;
}

/**
 * A trade that is priced beside the one that is judged, by a method of its own, since the reference needs its value.
 */
export interface Companion {
  readonly trade: Json;
  readonly method?: Method;
}

/**
 * A trade, its market and its reference. Names of underlyings are "A", "B", …; the one currency is "C". Trades of one
 * book get names of their own.
 */
export interface Case {
  readonly rates: unknown;
  readonly underlyings?: Readonly<Record<string, Json>>;
  readonly correlations?: readonly (readonly [string, string, number])[];
  readonly credit?: unknown;
  readonly trade: Json;
  readonly method?: Method;
  readonly companions?: readonly Companion[];
  /** Seconds after which the value is refined no further; its error estimate says how far that went. */
  readonly seconds?: number;
  /** The spot or the notional, which rounding is relative to. */
  readonly scale: number;
  /** Computed when it is needed, from the values of the companions with their error estimates. */
  readonly reference: (companions: readonly Known[]) => Known;
}

/** How a reference is known. */
export type ReferenceKind =
  | "closed form"
  | "quadrature"
  /** Finite differences or a lattice of `references/`, whose error is what a finer mesh changes. */
  | "own solution"
  /** Another method of the library, whose error estimate counts, where nothing else exists. */
  | "other method";

export interface Family {
  readonly name: string;
  readonly reference: ReferenceKind;
  /** The most trades that are priced, where each takes a second or more. */
  readonly most?: number;
  /** From where to where trades and markets are drawn, in a few words. */
  readonly draws: string;
  /** Returns undefined where a draw does not suit. */
  draw(random: Random): Case | undefined;
}

/** What is known but for rounding. */
export const exactly =
  (value: number): (() => Known) =>
  () => ({ value, error: 0 });
