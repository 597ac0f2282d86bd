import { median } from "../harness.ts";

/** One way to price: a mesh, a method; in order of cost within its row. */
export interface Candidate {
  readonly name: string;
  /** Nodes × steps, or what else the time is about proportional to, for the comparison of one pricer's candidates. */
  readonly work: number;
}

/** Everything that one side may choose from to price a set of options. */
export interface Pricer<C extends Candidate> {
  /** In each row errors fall as work grows: the time steps of one method on one number of nodes, say. */
  readonly rows: readonly (readonly C[])[];
  price(candidate: C): Promise<ArrayLike<number>>;
  /** Seconds for one option. */
  seconds(candidate: C): Promise<number>;
}

export interface Cost<C extends Candidate> {
  readonly candidate: C;
  /** Largest absolute error over the options. */
  readonly error: number;
  readonly seconds: number;
}

const geometric = (from: number, to: number, ratio: number): number[] =>
  Array.from({ length: Math.floor(Math.log(to / from) / Math.log(ratio)) + 1 }, (_, i) => from * ratio ** i);

/**
 * Numbers of nodes and of time steps to choose from: as few, as many and as finely spaced for either side, but for what
 * each can take.
 */
export const ladders = (rounded: { nodes: (wanted: number) => number; steps: (wanted: number) => number }) => ({
  nodes: [...new Set(geometric(20, 800, 2 ** (1 / 4)).map(rounded.nodes))],
  steps: [...new Set(geometric(4, 2600, 2 ** (1 / 8)).map(rounded.steps))],
});

/**
 * Candidates that took at most as many times as long as the quickest are timed again, in turns: the clock of a shared
 * machine drifts within minutes.
 */
const CLOSE = 1.6;
const TURNS = 3;
/** Candidates of more work than this many times that of the best so far are taken not to win. */
const HOPELESS = 2;

/**
 * The fastest candidate that prices every option within `target` of `expected`: of each row the first that does, found
 * by bisection, and the quickest of these by the clock. The work allowed doubles until one is found.
 */
export async function fastestAtError<C extends Candidate>(
  target: number,
  expected: readonly number[],
  pricer: Pricer<C>,
): Promise<Cost<C> | undefined> {
  const works = pricer.rows.flatMap((row) => row.map(({ work }) => work));
  const search = { target, expected, pricer, failed: new Set<C>() };
  let costs: readonly Cost<C>[] = [];
  for (let limit = 16 * Math.min(...works); costs.length === 0; limit *= 2) {
    costs = await within(limit, search);
    if (limit > Math.max(...works)) break;
  }
  if (costs.length === 0) return undefined;
  const more = await within(HOPELESS * Math.min(...costs.map(({ candidate }) => candidate.work)), search);
  costs = [...costs, ...more.filter(({ candidate }) => costs.every((cost) => cost.candidate !== candidate))];
  const min = Math.min(...costs.map(({ seconds }) => seconds));
  return quickest(
    costs.filter(({ seconds }) => seconds <= CLOSE * min),
    pricer,
  );
}

interface Search<C extends Candidate> {
  readonly target: number;
  readonly expected: readonly number[];
  readonly pricer: Pricer<C>;
  /** The last candidates of rows, none of which is good enough. */
  readonly failed: Set<C>;
}

/**
 * Of each row the first candidate that is good enough, of those of `limit` work at most; less once one has been found.
 */
async function within<C extends Candidate>(limit: number, search: Search<C>): Promise<readonly Cost<C>[]> {
  const costs: Cost<C>[] = [];
  let allowed = limit;
  for (const row of search.pricer.rows) {
    const found = await firstWithin(
      row.filter(({ work }) => work <= allowed),
      search,
    );
    if (found === undefined) continue;
    costs.push({ ...found, seconds: await search.pricer.seconds(found.candidate) });
    allowed = Math.min(allowed, HOPELESS * found.candidate.work);
  }
  return costs;
}

async function quickest<C extends Candidate>(costs: readonly Cost<C>[], pricer: Pricer<C>): Promise<Cost<C>> {
  if (costs.length === 1) return costs[0];
  const turns = costs.map((): number[] => []);
  for (let turn = 0; turn < TURNS; turn++)
    for (const [i, { candidate }] of costs.entries()) turns[i].push(await pricer.seconds(candidate));
  const again = costs.map((cost, i) => ({ ...cost, seconds: median(turns[i]) }));
  return again.reduce((a, b) => (b.seconds < a.seconds ? b : a));
}

/** Largest absolute error over the options. */
export async function errorOf<C extends Candidate>(
  pricer: Pricer<C>,
  candidate: C,
  expected: readonly number[],
): Promise<number> {
  const prices = await pricer.price(candidate);
  return Math.max(...expected.map((value, i) => Math.abs(prices[i] - value)));
}

/** As if errors fell along the row; where they do not, a later candidate is returned, or none. */
async function firstWithin<C extends Candidate>(
  row: readonly C[],
  { target, expected, pricer, failed }: Search<C>,
): Promise<Omit<Cost<C>, "seconds"> | undefined> {
  const last = row.at(-1);
  if (last === undefined || failed.has(last)) return undefined;
  let found = { candidate: last, error: await errorOf(pricer, last, expected) };
  if (!(found.error <= target)) {
    failed.add(last);
    return undefined;
  }
  let low = 0;
  let high = row.length - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    const error = await errorOf(pricer, row[middle], expected);
    if (error <= target) {
      high = middle;
      found = { candidate: row[middle], error };
    } else low = middle + 1;
  }
  return found;
}
