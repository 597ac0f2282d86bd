/** What finite differences aim at. */
import type { Precision } from "../../../kernel/index.ts";
import type { AdaptiveBatch } from "../../../pde/fdm/index.ts";
import type { Settings } from "../../options.ts";
import { TARGET_ERRORS } from "../../plan/method.ts";

/** The best accuracy of f32, relative to the spot; it is not asked for a better one. */
export const FINEST_F32 = 1e-5;

/** Returns the target of finite differences in a precision. */
export function goalOf(
  { accuracy = TARGET_ERRORS.fdm }: Pick<Settings, "accuracy">,
  precision: Precision,
): AdaptiveBatch["goal"] {
  return precision === "f32"
    ? { accuracy: Math.max(accuracy, FINEST_F32), rounding: 2e-6 }
    : { accuracy, rounding: 1e-12 };
}
