/** Waits until all promises are settled, even if one is rejected, and returns their results. @throws the first error */
export async function settleAll<T>(jobs: readonly Promise<T>[]): Promise<T[]> {
  await Promise.allSettled(jobs);
  return Promise.all(jobs);
}
