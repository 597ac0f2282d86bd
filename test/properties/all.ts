import { closedFormProperties } from "./closed-form-properties.ts";
import type { Property } from "./property.ts";
import { relationProperties } from "./relation-properties.ts";

export const allProperties: readonly Property[] = [...closedFormProperties, ...relationProperties];
