/** The parts of one or more GPUs that threads of the host work with, and the threads that do. */
import type { DeviceParts, PartsUser } from "../device.ts";
import { nodeModule } from "../node.ts";
import type { CudaDeviceInfo } from "./list.ts";
import type { Session } from "./session.ts";

export interface Gpu {
  readonly info: CudaDeviceInfo;
  readonly session: Session;
}

/**
 * A part for each core, the GPUs in turn: a GPU is mostly idle while one thread of the host prepares its work.
 * Undefined where there is one core, and of a device that is a part itself.
 */
export function partsOf(gpus: readonly Gpu[], users: PartsUsers): DeviceParts | undefined {
  const cores = nodeModule("node:os").availableParallelism();
  if (gpus[0].session.isShared || cores === 1) return undefined;
  const count = Math.max(cores, gpus.length);
  const options = Array.from({ length: count }, (_, i) => {
    const { info, session } = gpus[i % gpus.length];
    return { backend: "cuda", device: info.index, shared: { context: session.context, count } } as const;
  });
  return { options, keep: (user) => users.keep(user) };
}

/** The users of parts of a device, which end with it. */
export class PartsUsers {
  readonly #kept: PartsUser[] = [];
  #ended = false;

  keep(user: PartsUser): void {
    if (this.#ended) user[Symbol.dispose]();
    else this.#kept.push(user);
  }

  /** Disposes of them. `close` is called when their threads have ended: a context ends after the last call in it. */
  end(close: () => void): void {
    this.#ended = true;
    for (const user of this.#kept) user[Symbol.dispose]();
    if (this.#kept.length === 0) close();
    else void Promise.all(this.#kept.map(({ ended }) => ended)).then(close);
  }
}
