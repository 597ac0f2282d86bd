/** The standard streams of the process, which tests replace. */
export interface Terminal {
  readonly stdin: NodeJS.ReadableStream;
  readonly stdout: Sink;
  readonly stderr: Sink;
}

/** A stream to which text and bytes are written. */
export interface Sink {
  write(part: string | Uint8Array): boolean;
  once(event: "drain" | "error" | "close", listener: (error?: Error) => void): unknown;
  off(event: "drain" | "error" | "close", listener: (error?: Error) => void): unknown;
  readonly isTTY?: boolean;
  readonly columns?: number;
  readonly rows?: number;
}

/** Writes text or bytes to a stream, and waits while its reader is slow, so that results never accumulate in memory. */
export async function writeTo(sink: Sink, part: string | Uint8Array): Promise<void> {
  if (sink.write(part)) return;
  await new Promise<void>((resolve, reject) => {
    const settle = (error?: Error): void => {
      sink.off("drain", settle);
      sink.off("close", settle);
      sink.off("error", settle);
      if (error === undefined) resolve();
      else reject(error);
    };
    sink.once("drain", settle);
    sink.once("close", settle);
    sink.once("error", settle);
  });
}
