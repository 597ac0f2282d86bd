/**
 * How much of the suite runs. `npm test` is what a change has to pass: it runs every kind of kernel on every device,
 * and deals the combinations of cases and slow devices out among them. `npm run test:all` runs each combination. What
 * only the latter runs stands in design/tests.md.
 */
export const everything = process.env["FEYNKAC_TESTS"] === "all";

/** Every `hands`-th of the cases, from the `hand`-th on; all of them in `npm run test:all`. */
export function dealt<T>(cases: readonly T[], hand: number, hands: number): readonly T[] {
  return everything ? cases : cases.filter((_, i) => i % hands === hand % hands);
}

/**
 * A number of random cases: `few` in `npm test`, `many` in `npm run test:all`; an environment variable overrides both.
 */
export function counted(variable: string, few: number, many: number): number {
  return Number(process.env[variable] ?? (everything ? many : few));
}
