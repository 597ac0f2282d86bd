/** All families of docs/accuracy.md; those that take a second or more a trade come last. */
import type { Family } from "../case.ts";
import { americanFamilies } from "./american.ts";
import { assetFamilies } from "./assets.ts";
import { convertibleFamilies } from "./convertibles.ts";
import { hestonFamilies } from "./heston.ts";
import { pathFamilies } from "./paths.ts";
import { propertyFamilies } from "./properties.ts";
import { quoteFamilies } from "./quotes.ts";
import { rateFamilies } from "./rates.ts";
import { smileFamilies } from "./smiles.ts";
import { timeFamilies } from "./time.ts";

export const FAMILIES: readonly Family[] = [
  ...timeFamilies,
  ...propertyFamilies,
  ...americanFamilies,
  ...smileFamilies,
  ...quoteFamilies,
  ...pathFamilies,
  ...rateFamilies,
  ...convertibleFamilies,
  ...hestonFamilies,
  ...assetFamilies,
];
