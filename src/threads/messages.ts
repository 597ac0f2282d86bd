/** A message from a worker pool to one of its threads. */
export type ToWorker<Setup, Job> =
  /** The setup that all jobs have in common; the first message. */
  | { readonly kind: "begin"; readonly setup: Setup }
  | { readonly kind: "job"; readonly number: number; readonly job: Job }
  /** Its answer is not wanted any more. */
  | { readonly kind: "stop"; readonly number: number };

/** A message from a worker thread to its pool. */
export type FromWorker<Answer> =
  | { readonly kind: "ready" }
  | { readonly kind: "done"; readonly number: number; readonly answer: Answer }
  /** Whatever the reason: who asked does the job, and meets it there. */
  | { readonly kind: "failed"; readonly number: number };
