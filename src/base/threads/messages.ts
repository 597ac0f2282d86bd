/** A message from a worker pool to one of its threads. */
export type ToWorker<Setup, Job> =
  /** The first message: the setup that all jobs share. */
  | { readonly kind: "begin"; readonly setup: Setup }
  | { readonly kind: "job"; readonly number: number; readonly job: Job }
  /** Sent when the answer to a job is no longer needed. */
  | { readonly kind: "stop"; readonly number: number };

/** A message from a worker thread to its pool. */
export type FromWorker<Answer> =
  | { readonly kind: "ready" }
  | { readonly kind: "done"; readonly number: number; readonly answer: Answer }
  /** Sent when a job fails. The pool's caller then does the job itself, and so gets the error. */
  | { readonly kind: "failed"; readonly number: number };
