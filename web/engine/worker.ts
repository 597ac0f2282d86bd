/** The worker's entry: hears calls, and answers them. */
import { computeAsNode } from "./math.ts";
import type { FromWorker, ToWorker } from "./protocol.ts";
import { serve } from "./serve.ts";
import { EngineSession } from "./session.ts";

const post = (message: FromWorker, transfer: Transferable[] = []): void => self.postMessage(message, { transfer });
computeAsNode();
const hear = serve(new EngineSession((reason) => post({ kind: "lost", reason })), post);
self.addEventListener("message", ({ data }: MessageEvent<ToWorker>) => hear(data));
