import { closedFormProperties } from "./closed-form-properties.ts";
import type { Property } from "./property.ts";

export const allProperties: readonly Property[] = [...closedFormProperties];
