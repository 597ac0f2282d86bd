/**
 * The kernel functions that return the state at which a work item starts, for users' kernels and for `RandomGenerator`.
 */
import { drand48Jumps, drand48Table } from "./generators/drand48.ts";
import { mrg32k3aJumps, mrg32k3aTable } from "./generators/mrg32k3a.ts";
import { philoxJumps, philoxTable } from "./generators/philox.ts";
import { startOf } from "./generators/skip.ts";
import { xorwowJumps, xorwowTable } from "./generators/xorwow.ts";

/**
 * The kernel function that returns the state at the start of a stream of drand48, from a table of `streamTable`. Cost:
 * 12 operations per digit of the stream's number to base 64.
 *
 * @example
 * import { drand48Start, streamTable } from "feynkac/random";
 *
 * const table = streamTable({ generator: "drand48", seed: 0, streams: 2, blockLength: 1000 });
 * console.log(drand48Start({ table, stream: 0, part: 0 }).low); // 13070
 * @stable
 */
export const drand48Start = startOf("drand48Start", drand48Table, drand48Jumps);

/**
 * The kernel function that returns the state at the start of a stream of MRG32k3a, from a table of `streamTable`. Cost:
 * 250 operations per digit of the stream's number to base 64.
 *
 * @example
 * import { mrg32k3aStart, streamTable } from "feynkac/random";
 *
 * const table = streamTable({ generator: "mrg32k3a", seed: [12345, 12345, 12345, 12345, 12345, 12345], streams: 2 });
 * console.log(mrg32k3aStart({ table, stream: 1, part: 0 }).x0); // 3692455944
 * @stable
 */
export const mrg32k3aStart = startOf("mrg32k3aStart", mrg32k3aTable, mrg32k3aJumps);

/**
 * The kernel function that returns the state at the start of a stream of XORWOW, from a table of `streamTable`. Cost:
 * 2,900 operations per digit of the stream's number to base 64.
 *
 * @example
 * import { streamTable, xorwowStart } from "feynkac/random";
 *
 * const table = streamTable({ generator: "xorwow", seed: 42, streams: 2 });
 * console.log(xorwowStart({ table, stream: 1, part: 0 }).x); // 2837430221
 * @stable
 */
export const xorwowStart = startOf("xorwowStart", xorwowTable, xorwowJumps);

/**
 * The kernel function that returns the state at the start of a stream of Philox, from a table of `streamTable`. Cost:
 * 12 operations per digit of the stream's number to base 64. A kernel may instead form a counter itself; see
 * `philox4x32`.
 *
 * @example
 * import { philoxStart, streamTable } from "feynkac/random";
 *
 * const table = streamTable({ generator: "philox", seed: 42, streams: 2 });
 * console.log(philoxStart({ table, stream: 1, part: 0 }).z); // 1
 * @stable
 */
export const philoxStart = startOf("philoxStart", philoxTable, philoxJumps);
