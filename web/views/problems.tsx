import type { VNode } from "preact";
import { Message } from "./message.tsx";
import { notice, problem } from "../state/store.ts";

/** What went wrong, where, and what to do about it; read out as soon as it appears. */
export function Problems(): VNode {
  const { value } = problem;
  return (
    <div role="alert">
      {value !== undefined && (
        <section class="problem">
          <h2>{value.title}</h2>
          <Message text={value.message} />
          <button type="button" class="quiet" onClick={() => (problem.value = undefined)}>
            Dismiss
          </button>
        </section>
      )}
      {notice.value !== undefined && <p class="notice">{notice.value}</p>}
    </div>
  );
}
