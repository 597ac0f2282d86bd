/** Returns the results of jobs when all of them have ended, even if one fails. @throws the first error */
export async function allOf<T>(jobs: readonly Promise<T>[]): Promise<T[]> {
  await Promise.allSettled(jobs);
  return Promise.all(jobs);
}
