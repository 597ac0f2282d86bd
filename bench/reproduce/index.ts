import { gaikwadToke } from "./gaikwad-toke.ts";
import { giles } from "./giles.ts";
import { pagesWilbertz } from "./pages-wilbertz.ts";
import type { Reproduction } from "../../src/cli/reproduction.ts";

export type { ReproduceOptions, Reproduction } from "../../src/cli/reproduction.ts";

/** The published results that can be reproduced, in the order of `feynkac reproduce --list`. */
export const REPRODUCTIONS: readonly Reproduction[] = [giles, gaikwadToke, pagesWilbertz];
