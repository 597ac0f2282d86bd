/** Answers the page's calls by a session: a call that changes what it holds ends before the next one begins. */
import { FeynkacError } from "../../src/base/errors.ts";
import type { CallContext, EngineSession } from "./session.ts";
import { CHANGING, type Failure, type FromWorker, type ToWorker } from "./protocol.ts";

export type Post = (message: FromWorker, transfer?: Transferable[]) => void;

/** Returns what hears the page's messages. */
export function serve(session: EngineSession, post: Post): (message: ToWorker) => void {
  const running = new Map<number, AbortController>();
  let changed: Promise<unknown> = Promise.resolve();
  const answer = async ({ id, name, argument }: Extract<ToWorker, { kind: "call" }>): Promise<void> => {
    const controller = new AbortController();
    running.set(id, controller);
    const context: CallContext = {
      signal: controller.signal,
      tell: (event, transfer) => post({ kind: "event", id, event }, transfer),
    };
    const work = changed.then(() => session[name](argument as never, context));
    if (CHANGING.has(name)) changed = Promise.allSettled([work]);
    try {
      post({ kind: "answer", id, value: await work });
    } catch (error) {
      post({ kind: "failure", id, failure: failureOf(error) });
    } finally {
      running.delete(id);
    }
  };
  return (message) => {
    if (message.kind === "cancel") running.get(message.id)?.abort(new DOMException("cancelled", "AbortError"));
    else void answer(message);
  };
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
