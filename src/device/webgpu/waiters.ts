/** Lets callers wait for promises such that all of them are rejected at once when the device is lost or disposed. */
export class Waiters {
  readonly #reject = new Set<(reason: Error) => void>();
  #reason: Error | undefined;

  /** Returns the result of `work`. If the device fails first, throws that failure. */
  async race<T>(work: Promise<T>): Promise<T> {
    if (this.#reason !== undefined) {
      work.catch(() => {});
      throw this.#reason;
    }
    let stop!: (reason: Error) => void;
    const failure = new Promise<never>((_, reject) => (stop = reject));
    this.#reject.add(stop);
    try {
      return await Promise.race([work, failure]);
    } catch (error) {
      throw this.#reason ?? error;
    } finally {
      this.#reject.delete(stop);
    }
  }

  fail(reason: Error): void {
    this.#reason ??= reason;
    for (const reject of this.#reject) reject(this.#reason);
    this.#reject.clear();
  }
}
