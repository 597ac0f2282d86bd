/** The worker's entry: hears calls, and answers them. */
import { FeynkacError } from "../../src/base/errors.ts";
import { computeAsNode } from "./math.ts";
import { type CallContext, EngineSession } from "./session.ts";
import type { Failure, FromWorker, ToWorker } from "./protocol.ts";

const post = (message: FromWorker, transfer: Transferable[] = []): void => self.postMessage(message, { transfer });
computeAsNode();
const session = new EngineSession((reason) => post({ kind: "lost", reason }));
const running = new Map<number, AbortController>();

self.addEventListener("message", ({ data }: MessageEvent<ToWorker>) => {
  if (data.kind === "cancel") running.get(data.id)?.abort(new DOMException("cancelled", "AbortError"));
  else void answer(data);
});

async function answer({ id, name, argument }: Extract<ToWorker, { kind: "call" }>): Promise<void> {
  const controller = new AbortController();
  running.set(id, controller);
  const context: CallContext = {
    signal: controller.signal,
    tell: (event, transfer) => post({ kind: "event", id, event }, transfer),
  };
  try {
    post({ kind: "answer", id, value: await session[name](argument as never, context) });
  } catch (error) {
    post({ kind: "failure", id, failure: failureOf(error) });
  } finally {
    running.delete(id);
  }
}

function failureOf(error: unknown): Failure {
  if (error instanceof FeynkacError) {
    const { name, code, message } = error;
    const { path, columns } = error as Partial<Failure>;
    return {
      name,
      code,
      message,
      ...(path === undefined ? {} : { path }),
      ...(columns === undefined ? {} : { columns }),
    };
  }
  const { name, message } = error instanceof Error ? error : { name: "Error", message: String(error) };
  return { name, code: name === "AbortError" ? "ABORTED" : "INTERNAL", message };
}
