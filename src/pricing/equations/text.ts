/** Formulas of an equation with their numbers apart: trades whose formulas are equal are solved together. */
import { formula } from "../../kernel/index.ts";
import type { PiecewiseConstant } from "../../market/index.ts";

/** The run-time parameters of a problem by name, in the order in which its formulas introduced them. */
export class Parameters {
  readonly values = new Map<string, number>();

  /** Adds a parameter and returns its unique name, `name` and a number. */
  add(value: number, name = "p"): string {
    const unique = `${name}_${this.values.size}`;
    this.values.set(unique, value);
    return unique;
  }

  /** Returns f(t) up to a time as a formula in t. */
  piecewise({ times, values }: PiecewiseConstant, until: number, name: string): string {
    const pieces = piecesOf({ times, values }, until);
    const last = this.add(pieces[pieces.length - 1].value, name);
    return pieces
      .slice(0, -1)
      .reduceRight((rest, { to, value }) => `t < ${this.add(to, "t")} ? ${this.add(value, name)} : ${rest}`, last)
      .replace(/^(.*\?.*)$/, "($1)");
  }

  /** Returns ∫ f from t to a time as a formula in t. */
  integral({ times, values }: PiecewiseConstant, until: number, name: string): string {
    const pieces = piecesOf({ times, values }, until);
    const parts = pieces.map(({ from, to, value }) => {
      const start = from === 0 ? "t" : `max(t, ${this.add(from, "t")})`;
      return `${this.add(value, name)}*max(${this.add(to, "t")} - ${start}, 0)`;
    });
    return `(${parts.join(" + ")})`;
  }

  /** Returns the value of a formula of the parameters and given variables. */
  evaluate(text: string, state: Readonly<Record<string, number>> = {}): number {
    const names = [...this.values.keys(), ...Object.keys(state)];
    return formula(text, names)(...this.values.values(), ...Object.values(state));
  }
}

interface Piece {
  readonly from: number;
  readonly to: number;
  readonly value: number;
}

/** The pieces of a curve from 0 to a time; equal neighbours are one. */
function piecesOf({ times, values }: PiecewiseConstant, until: number): Piece[] {
  const pieces: Piece[] = [];
  for (let i = 0; i < values.length; i++) {
    const from = i === 0 ? 0 : times[i - 1];
    if (i > 0 && from >= until) break;
    const to = Math.min(i < times.length ? times[i] : until, until);
    const last = pieces.at(-1);
    if (last !== undefined && last.value === values[i]) pieces[pieces.length - 1] = { ...last, to };
    else pieces.push({ from, to, value: values[i] });
  }
  return pieces;
}
