/** Type inference by unification. A type is a set of scalar types that narrows as expressions are combined. */
import type { ScalarType } from "../ir.ts";

/** The bit that represents type real in a set of types. */
export const REAL = 1;
/** The bit that represents type i32 in a set of types. */
export const I32 = 2;
/** The bit that represents type u32 in a set of types. */
export const U32 = 4;
/** The bit that represents type bool in a set of types. */
export const BOOL = 8;
/** The set of integer types, as bits. */
export const INTEGER = I32 | U32;
/** The set of number types, as bits. */
export const NUMERIC = REAL | INTEGER;

const BITS: Readonly<Record<ScalarType, number>> = { real: REAL, i32: I32, u32: U32, bool: BOOL };
/** The types in order of preference for expressions whose type nothing determines: `const n = 3` is an i32. */
const PREFERENCE: readonly ScalarType[] = ["i32", "real", "u32", "bool"];

/**
 * The unknown type of an expression during type inference: a set of possible types, as bits, which narrows. Unified
 * type variables share one set.
 */
export class TypeVariable {
  private parent: TypeVariable | null = null;
  private mask: number;

  constructor(mask: number) {
    this.mask = mask;
  }

  find(): TypeVariable {
    let root: TypeVariable = this;
    while (root.parent) root = root.parent;
    if (root !== this) this.parent = root;
    return root;
  }

  get possible(): number {
    return this.find().mask;
  }

  /** Narrows the type to `mask`; returns false and changes nothing if no type would remain. */
  narrow(mask: number): boolean {
    const root = this.find();
    if ((root.mask & mask) === 0) return false;
    root.mask &= mask;
    return true;
  }

  /** Unifies two types; returns false and changes nothing if they have no type in common. */
  unify(other: TypeVariable): boolean {
    const a = this.find();
    const b = other.find();
    if (a === b) return true;
    if ((a.mask & b.mask) === 0) return false;
    a.mask &= b.mask;
    b.parent = a;
    return true;
  }

  /** Returns the inferred type. */
  resolve(): ScalarType {
    const mask = this.possible;
    return PREFERENCE.find((type) => (mask & BITS[type]) !== 0) ?? "real";
  }
}

/** Returns a new type variable of a known type. */
export function typeVariable(type: ScalarType): TypeVariable {
  return new TypeVariable(BITS[type]);
}

/** Returns the names of the types in a set (bits) for messages, such as "real" or "i32 or u32". */
export function describeTypes(mask: number): string {
  return PREFERENCE.filter((type) => (mask & BITS[type]) !== 0).join(" or ");
}

/**
 * Returns the set of types, as bits, that a number literal may have. A number that is not an integer can only be real.
 */
export function literalMask(value: number): number {
  if (!Number.isInteger(value)) return REAL;
  let mask = REAL;
  if (value >= -(2 ** 31) && value < 2 ** 31) mask |= I32;
  if (value >= 0 && value < 2 ** 32) mask |= U32;
  return mask;
}
