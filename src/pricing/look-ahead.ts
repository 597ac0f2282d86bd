/**
 * Yields the results of the asynchronous function `work` on the items of a source, in the items' order, with at most
 * `max()` calls in progress at a time. A result is yielded without waiting for the next item of the source.
 *
 * @throws what the source throws, once the results of all items before are yielded; what `work` throws; in both cases
 * after all calls in progress have ended
 */
export async function* lookAhead<T, R>(
  source: AsyncIterable<T>,
  max: () => number,
  work: (item: T) => Promise<R>,
): AsyncGenerator<R, void, undefined> {
  const iterator = source[Symbol.asyncIterator]();
  const running: Promise<R>[] = [];
  let next: Promise<IteratorResult<T>> | undefined;
  let open = true;
  let failure: { readonly error: unknown } | undefined;
  try {
    for (;;) {
      if (open && running.length < max()) next ??= iterator.next();
      if (next === undefined && running.length === 0) break;
      if (await comesFirst(next, running[0])) {
        try {
          const item = await (next as NonNullable<typeof next>);
          if (item.done === true) open = false;
          else running.push(handled(work(item.value)));
        } catch (error) {
          failure = { error };
          open = false;
        }
        next = undefined;
      } else yield await (running.shift() as Promise<R>);
    }
    if (failure !== undefined) throw failure.error;
  } finally {
    await Promise.allSettled(running);
    // A source that is waiting for its own input answers when that comes: nobody waits for it any more.
    if (next !== undefined) void handled(next);
    if (open) {
      const closed = iterator.return?.();
      if (closed !== undefined) await (next === undefined ? closed : void handled(closed));
    }
  }
}

/** Tells whether `next` settles before `result`; true if both have settled. */
async function comesFirst(next: Promise<unknown> | undefined, result: Promise<unknown> | undefined): Promise<boolean> {
  const settled = (promise: Promise<unknown>, isNext: boolean): Promise<boolean> =>
    promise.then(
      () => isNext,
      () => isNext,
    );
  if (next === undefined) return false;
  if (result === undefined) return true;
  return Promise.race([settled(next, true), settled(result, false)]);
}

/** Its failure is thrown where it is awaited, and is unhandled nowhere before. */
function handled<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => undefined);
  return promise;
}
