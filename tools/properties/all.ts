import { closedFormProperties } from "./closed-form-properties.ts";
import { continuityProperties } from "./continuity-properties.ts";
import type { Property } from "./property.ts";
import { relationProperties } from "./relation-properties.ts";
import { rewritingProperties } from "./rewriting-properties.ts";
import { scenarioProperties } from "./scenario-properties.ts";

export const allProperties: readonly Property[] = [
  ...closedFormProperties,
  ...relationProperties,
  ...rewritingProperties,
  ...continuityProperties,
  ...scenarioProperties,
];
