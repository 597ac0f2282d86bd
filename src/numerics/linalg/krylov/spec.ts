import { type Accuracy, checkAccuracy } from "../../../base/accuracy.ts";
import { SpecError } from "../../../base/errors.ts";
import { checkFields, checkOneOf, checkWholeNumber, valueText } from "../../../base/argument-checks.ts";

const METHODS = ["bicgstab", "cgs", "cg", "gmres"] as const;

/**
 * The iterative method. Preconditioners act from the right, so that residuals are those of A·x = b; cg uses symmetric
 * preconditioning.
 *
 * * `bicgstab`: van der Vorst (1992); any square matrix; two products with A per iteration.
 * * `cgs`: Sonneveld (1989); any square matrix; two products; converges more irregularly.
 * * `cg`: Hestenes & Stiefel (1952); symmetric positive definite matrices and preconditioners; one product.
 * * `gmres`: Saad & Schultz (1986), restarted; any square matrix; one product, and `restart` + 1 vectors of memory.
 *   Orthogonalisation by classical Gram–Schmidt, twice.
 * @stable
 */
export type KrylovMethod = (typeof METHODS)[number];

/** `kind`, so that a specification can be the start of another one. */
const FIELDS = ["method", "tolerance", "maxIterations", "restart", "patience", "checkEvery", "kind"] as const;

/** The options of `krylovSpec`. @stable */
export interface KrylovOptions {
  /** The method, "bicgstab" by default. */
  readonly method?: KrylovMethod;
  /**
   * The residual at which a system is solved: ‖b − A·x‖₂ ≤ max(relative·‖b‖₂, absolute); { relative: 1e-10 } by
   * default.
   */
  readonly tolerance?: Accuracy;
  /** The maximum number of iterations, 1,000 by default. */
  readonly maxIterations?: number;
  /** The number of iterations of a cycle of gmres; 30 by default. */
  readonly restart?: number;
  /** The number of iterations without a smaller residual after which a system stagnates; 200 by default. */
  readonly patience?: number;
  /** The number of iterations recorded between checks by the host, 10 by default; it does not affect the result. */
  readonly checkEvery?: number;
}

/** A checked specification of an iterative solution: frozen, serialisable, without a device. @stable */
export interface KrylovSpec extends Required<KrylovOptions> {
  readonly kind: "krylov";
  readonly tolerance: Required<Accuracy>;
}

/**
 * Checks and completes the description of an iterative solution.
 *
 * @param options what differs from the defaults.
 * @throws SpecError naming the field, its value, and what was expected; also for an unknown field.
 * @example
 * import { krylovSpec } from "feynkac/linalg";
 *
 * const { method, maxIterations } = krylovSpec({ tolerance: { relative: 1e-8 } });
 * console.log(method, maxIterations); // bicgstab 1000
 * @stable
 */
export function krylovSpec(options: KrylovOptions = {}): KrylovSpec {
  checkFields("krylovSpec", options, FIELDS);
  const { tolerance: given = { relative: 1e-10 } } = options;
  checkAccuracy("krylovSpec: tolerance", given);
  const spec = {
    kind: "krylov",
    method: options.method ?? "bicgstab",
    tolerance: Object.freeze({ absolute: given.absolute ?? 0, relative: given.relative ?? 0 }),
    maxIterations: options.maxIterations ?? 1000,
    restart: options.restart ?? 30,
    patience: options.patience ?? 200,
    checkEvery: options.checkEvery ?? 10,
  } as const;
  checkOneOf("krylovSpec: method", spec.method, METHODS);
  for (const [name, value] of Object.entries(spec.tolerance))
    if (!(value >= 0 && value < Infinity)) throw wrong(`tolerance.${name}`, value, "a finite number of at least 0");
  for (const [name, max] of [
    ["maxIterations", 2 ** 30],
    ["restart", 1000],
    ["patience", 2 ** 30],
    ["checkEvery", 1000],
  ] as const)
    checkWholeNumber(`krylovSpec: ${name}`, spec[name], 1, max);
  return Object.freeze(spec);
}

const wrong = (name: string, got: unknown, expected: string): SpecError =>
  new SpecError(`krylovSpec: ${name}: got ${valueText(got)}, expected ${expected}`);
