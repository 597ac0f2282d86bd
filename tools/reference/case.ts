/** Cases of reference files (schema gpu-cf-reference-cases/1), and how a computed result is compared with one. */

export type Params = Readonly<Record<string, unknown>>;
/** Computes the fields that a case expects from its parameters. */
export type Solver = (params: Params) => Fields | Promise<Fields>;
type Fields = Readonly<Record<string, unknown>>;

export interface Case {
  readonly id: string;
  readonly product: string;
  readonly params: Params;
  readonly expected: Params;
  readonly tolerance: Tolerance;
}

interface Tolerance {
  readonly abs: number;
  readonly rel: number;
  readonly abs_by_field?: Readonly<Record<string, number>>;
}

/**
 * Returns what differs between a result and what a case expects, in words; none where they agree. Tolerances are those
 * of exact methods; a result's `allowance` is the error estimate of another, which is added: a number, or one for each
 * field.
 */
export function differences({ expected, tolerance }: Case, result: Params): string[] {
  const given = (result["allowance"] ?? 0) as number | Readonly<Record<string, number>>;
  return Object.entries(expected).flatMap(([field, wanted]) => {
    const allowance = typeof given === "number" ? given : (given[field] ?? 0);
    const abs = (tolerance.abs_by_field?.[field] ?? tolerance.abs) + allowance;
    return compared(field, wanted, result[field], (value) => abs + tolerance.rel * Math.abs(value));
  });
}

function compared(path: string, wanted: unknown, got: unknown, allowed: (value: number) => number): string[] {
  if (typeof wanted === "number") {
    const near = typeof got === "number" && Math.abs(got - wanted) <= allowed(wanted);
    return near ? [] : [`${path}: got ${String(got)}, expected ${wanted}`];
  }
  if (typeof wanted !== "object" || wanted === null)
    return got === wanted ? [] : [`${path}: got ${String(got)}, expected ${String(wanted)}`];
  const parts = Object.entries(wanted).flatMap(([key, value]) =>
    compared(`${path}.${key}`, value, (got as Params | undefined)?.[key], allowed),
  );
  const extra = Array.isArray(wanted) && Array.isArray(got) && got.length > wanted.length;
  return extra ? [...parts, `${path}: ${got.length} entries, expected ${wanted.length}`] : parts;
}
