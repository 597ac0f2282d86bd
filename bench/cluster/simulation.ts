/**
 * A run by many workers as events in time: what no machine here can run. All times are in seconds. Redis is one server
 * that answers in turn, which is what it is.
 */

export interface SimulatedRun {
  readonly workers: number;
  /** Expected seconds of pricing, by chunk. */
  readonly chunks: readonly number[];
  /** Attempts that end in a failure: half of them by the death of the worker, half by an error of the chunk. */
  readonly failures: number;
  /** A worker that is dead is found out so long after it died, at least, and at most twice that. */
  readonly lock: number;
  /** A worker that has died is there again after so long. */
  readonly restart: number;
  /** Redis needs so long for a job, from its place in the queue to its end. */
  readonly redis: number;
  /** Reading the rows of a chunk, and writing its part and receipt. */
  readonly storage: number;
  /** Standard deviation of the logarithm of the time of a chunk over what was expected. */
  readonly spread: number;
  /** A number from 0 to 1. */
  readonly next: () => number;
}

export interface SimulatedTimes {
  /** From the first job to the last part. */
  readonly seconds: number;
  /** Seconds of all workers together: pricing that counted, that was lost, storage, waiting for Redis, without work. */
  readonly priced: number;
  readonly lost: number;
  readonly stored: number;
  readonly waited: number;
  readonly idle: number;
  /** The part of the time in which Redis worked. */
  readonly redisBusy: number;
  /** Attempts that failed. */
  readonly failed: number;
}

/** Something that happens: a worker is free, or a chunk comes back into the queue. */
interface Happening {
  readonly at: number;
  readonly what: "free" | "back";
}

export function simulate(run: SimulatedRun): SimulatedTimes {
  const { workers, chunks, failures, lock, restart, redis, storage, spread, next } = run;
  const queue = [...chunks].reverse();
  const happenings = new Heap();
  for (let i = 0; i < workers; i++) happenings.push({ at: 0, what: "free" });
  const returning: Heap<Happening & { readonly cost: number }> = new Heap();
  let [free, redisFree, redisSeconds, end, done] = [0, 0, 0, 0, 0];
  let [priced, lost, stored, waited, failed] = [0, 0, 0, 0, 0];
  const start = (at: number): void => {
    const cost = queue.pop() as number;
    const asked = Math.max(at, redisFree);
    redisFree = asked + redis;
    redisSeconds += redis;
    waited += redisFree - at;
    const took = cost * Math.exp(spread * normal(next) - (spread * spread) / 2);
    if (next() >= failures) {
      const over = redisFree + took + storage;
      priced += took;
      stored += storage;
      done++;
      end = Math.max(end, over);
      happenings.push({ at: over, what: "free" });
      return;
    }
    failed++;
    const until = next() * took;
    lost += until;
    const died = next() < 0.5;
    const broke = redisFree + until;
    happenings.push({ at: broke + (died ? restart : 0), what: "free" });
    const back = broke + (died ? lock * (1 + next()) : 0);
    returning.push({ at: back, what: "back", cost });
    happenings.push({ at: back, what: "back" });
  };
  for (let event = happenings.pop(); event !== undefined && done < chunks.length; event = happenings.pop()) {
    if (event.what === "free") free++;
    else queue.push((returning.pop() as { readonly cost: number }).cost);
    for (; queue.length > 0 && free > 0; free--) start(event.at);
  }
  const idle = workers * end - priced - lost - stored - waited;
  return { seconds: end, priced, lost, stored, waited, idle, redisBusy: redisSeconds / end, failed };
}

/** A normal number, by Box & Muller (1958). */
function normal(next: () => number): number {
  return Math.sqrt(-2 * Math.log(1 - next())) * Math.cos(2 * Math.PI * next());
}

/** A binary heap, the earliest first. */
class Heap<T extends { readonly at: number } = Happening> {
  readonly #all: T[] = [];

  push(one: T): void {
    const all = this.#all;
    let i = all.push(one) - 1;
    for (let up = (i - 1) >> 1; i > 0 && all[up].at > one.at; i = up, up = (i - 1) >> 1) all[i] = all[up];
    all[i] = one;
  }

  pop(): T | undefined {
    const all = this.#all;
    const [first] = all;
    const last = all.pop();
    if (all.length === 0 || last === undefined) return first;
    let i = 0;
    for (;;) {
      let down = 2 * i + 1;
      if (down >= all.length) break;
      if (down + 1 < all.length && all[down + 1].at < all[down].at) down++;
      if (all[down].at >= last.at) break;
      all[i] = all[down];
      i = down;
    }
    all[i] = last;
    return first;
  }
}
