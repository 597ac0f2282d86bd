/** Copies of what is simulated, with other numbers on the same random numbers. */
import { ShapeError, SpecError } from "../base/errors.ts";
import type { Control } from "./controls.ts";
import type { Paths } from "./sensitivities.ts";
import type { PathModel } from "./model.ts";
import type { Column } from "./parameters.ts";
import type { PathProduct } from "./product.ts";

/** A copy of a simulation with other parameters: its model and product have the same functions. @experimental */
export interface Variant {
  readonly model: PathModel;
  readonly product: PathProduct;
  /** The control variate with its mean for this variant; required if the settings have one. */
  readonly control?: Control;
  /** The dates, as many as in the settings, and the same by default. */
  readonly dates?: readonly Column[];
}

/** The settings of copies that all simulations have. */
interface CopySettings {
  readonly dates: readonly Column[];
  readonly variants?: readonly Variant[];
  readonly measures?: Readonly<Record<string, readonly Column[]>>;
  readonly sensitivities?: readonly string[];
  readonly control?: Control | "auto" | "none";
}

/**
 * Returns the copies that settings request. @throws SpecError copies besides Greeks, or without a control; ShapeError a
 * number of dates or weights
 */
export function copiesOf(settings: CopySettings, own: Paths): readonly Paths[] {
  const { variants = [], measures = {}, sensitivities = [], dates, control } = settings;
  if (variants.length > 0 && sensitivities.length > 0)
    throw new SpecError(
      `sensitivities: got ${sensitivities.join(", ")} beside variants, expected none: they are measures there`,
    );
  for (const [name, weights] of Object.entries(measures))
    if (weights.length !== 1 + variants.length)
      throw new ShapeError(
        `measures.${name}: got ${weights.length} weights, expected ${1 + variants.length}, of the value and each variant`,
      );
  return variants.map((one, v) => {
    if (one.dates !== undefined && one.dates.length !== dates.length)
      throw new ShapeError(`variants[${v}].dates: got ${one.dates.length}, expected ${dates.length}, as the first has`);
    if (own.control !== undefined && (control === "auto" || one.control === undefined))
      throw new SpecError(`variants[${v}].control: got none, expected one with the mean that it has for the variant`);
    return { model: one.model, product: one.product, control: one.control?.product, dates: one.dates ?? dates };
  });
}
