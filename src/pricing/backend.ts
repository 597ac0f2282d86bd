import type { Device } from "../device/index.ts";
import { DeviceLostError } from "../base/errors.ts";
import type { Precision } from "../kernel/index.ts";

/** A pricing method that opens a session on a device, in which it keeps kernels and buffers from batch to batch. */
export interface Opens<S extends Disposable> {
  open(device: Device, precision: Precision): S;
}

/** A function that returns the session of a method on the current device, which is opened on first use. */
export type SessionOf = <S extends Disposable>(method: Opens<S>) => S;

/** The sessions of one batch. */
type Sessions = Map<Opens<Disposable>, Disposable>;

/** One device with its precision and the sessions of the pricing methods that were opened on it. */
export class Engine implements Disposable {
  readonly device: Device;
  readonly precision: Precision;
  /** The warnings to add to every result that is priced on the device. */
  readonly warnings: readonly string[];
  readonly #all: Sessions[] = [];
  readonly #free: Sessions[] = [];

  constructor(device: Device, precision: Precision, warnings: readonly string[] = []) {
    this.device = device;
    this.precision = precision;
    this.warnings = warnings;
  }

  /**
   * Runs `job` with exclusive use of sessions, because concurrent batches must not share the host memory of a session.
   */
  async withSessions<T>(job: (sessionOf: SessionOf) => Promise<T>): Promise<T> {
    const sessions = this.#free.pop() ?? this.#newSessions();
    try {
      return await job((method) => this.#sessionOf(sessions, method));
    } finally {
      this.#free.push(sessions);
    }
  }

  [Symbol.dispose](): void {
    for (const sessions of this.#all) for (const session of sessions.values()) session[Symbol.dispose]();
  }

  #newSessions(): Sessions {
    const sessions: Sessions = new Map();
    this.#all.push(sessions);
    return sessions;
  }

  #sessionOf<S extends Disposable>(sessions: Sessions, method: Opens<S>): S {
    const known = sessions.get(method) as S | undefined;
    if (known !== undefined) return known;
    const session = method.open(this.device, this.precision);
    sessions.set(method, session);
    return session;
  }
}

/** An engine with who uses it. */
interface EngineUse {
  readonly engine: Engine;
  jobs: number;
  /** Another has taken over: disposed when its last job ends. */
  replaced: boolean;
  /** True once a job has succeeded here; if false, a further loss of the device means to leave it. */
  proven: boolean;
}

const useOf = (engine: Engine, proven: boolean): EngineUse => ({ engine, jobs: 0, replaced: false, proven });

/** The device on which a run prices: the given one, or a fallback after it was lost. */
export class Backend {
  #use: EngineUse;
  #replacing: Promise<void> | undefined;
  #fallback: Device | undefined;
  readonly #openFallback: () => Promise<Device>;

  constructor(device: Device, precision: Precision, openFallback: (() => Promise<Device>) | undefined) {
    this.#use = useOf(new Engine(device, precision), true);
    this.#openFallback = openFallback ?? openCpu;
  }

  /**
   * Runs a job on the current device. If the device is lost, the job runs on it once more. If it is lost again, the job
   * runs on the fallback, as do all later jobs. Several jobs may run at once: the first that finds the device lost
   * replaces it for all.
   */
  async run<T>(job: (engine: Engine) => Promise<T>): Promise<T> {
    for (;;) {
      await this.#replacing;
      const use = this.#use;
      try {
        const result = await this.#runAt(use, job);
        use.proven = true;
        return result;
      } catch (error) {
        if (!(error instanceof DeviceLostError) || use.engine.device === this.#fallback) throw error;
        if (use === this.#use && this.#replacing === undefined)
          this.#replacing = this.#replace(use, error).finally(() => (this.#replacing = undefined));
      }
    }
  }

  dispose(): void {
    this.#use.engine[Symbol.dispose]();
    this.#fallback?.[Symbol.dispose]();
  }

  async #runAt<T>(use: EngineUse, job: (engine: Engine) => Promise<T>): Promise<T> {
    use.jobs++;
    try {
      return await job(use.engine);
    } finally {
      use.jobs--;
      disposeIfDone(use);
    }
  }

  /** Buffers and kernels of a lost device are gone with it. */
  async #replace(use: EngineUse, lost: DeviceLostError): Promise<void> {
    const { engine, proven } = use;
    const next = proven ? new Engine(engine.device, engine.precision) : await this.#fallBack(engine, lost);
    this.#use = useOf(next, false);
    use.replaced = true;
    disposeIfDone(use);
  }

  async #fallBack({ device, precision }: Engine, lost: DeviceLostError): Promise<Engine> {
    const fallback = (this.#fallback = await this.#openFallback());
    const offered = fallback.precisions.includes(precision) ? precision : "f64";
    return new Engine(fallback, offered, [
      `${device.name} was lost (${lost.message}); priced on ${fallback.name} in ${offered}`,
    ]);
  }
}

function disposeIfDone({ engine, jobs, replaced }: EngineUse): void {
  if (replaced && jobs === 0) engine[Symbol.dispose]();
}

/** Loaded when needed: the caller's own device came from elsewhere. */
async function openCpu(): Promise<Device> {
  const { openDevice } = await import("../device/index.ts");
  return openDevice({ backend: "cpu" });
}
