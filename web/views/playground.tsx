/** The playground: an equation or a payoff is typed, solved on the chosen device, and drawn beside it. */
import { useSignal } from "@preact/signals";
import type { VNode } from "preact";
import { useEffect, useRef } from "preact/hooks";
import type { PlayResult } from "../engine/play.ts";
import { PLAYS } from "../examples/plays.ts";
import { share } from "../state/address.ts";
import { choice, engine, openDevice, playCode, problemOf } from "../state/store.ts";
import { ChartView } from "./chart.tsx";

/** After so long without a key the equation is solved. Milliseconds. */
const QUIET = 350;
/** Characters of generated code that are shown. */
const LISTED = 200_000;

export function PlaygroundView(): VNode {
  const result = useSignal<PlayResult | undefined>(undefined);
  const failed = useSignal<string | undefined>(undefined);
  const generated = useSignal(false);
  const times = useSignal<Readonly<Record<string, number>>>({});
  const editor = useRef<HTMLDivElement>(null);
  const replace = useRef<(code: string) => void>(() => {});
  useEffect(() => {
    let stop = (): void => {};
    void import("./editor.ts").then(({ createEditor }) => {
      if (editor.current === null) return;
      const made = createEditor(editor.current, playCode.value, (code) => (playCode.value = code));
      replace.current = made.replace;
      stop = made.destroy;
    });
    return () => stop();
  }, []);
  useEffect(() => {
    const controller = new AbortController();
    const timer = setTimeout(() => {
      engine.call("play", { code: playCode.value, generated: generated.value }, { signal: controller.signal }).then(
        (solved) => {
          result.value = solved;
          failed.value = undefined;
          times.value = { ...times.value, [solved.device]: solved.milliseconds };
        },
        (error: unknown) => {
          if (!controller.signal.aborted) failed.value = problemOf("", error).message;
        },
      );
    }, QUIET);
    return () => {
      clearTimeout(timer);
      controller.abort();
    };
  }, [playCode.value, choice.value, generated.value]);
  return (
    <div class="playground">
      <h1 class="hidden">Playground</h1>
      <section aria-label="Equation">
        <div class="toolbar">
          <label class="pick">
            <span>Begin with</span>
            <select onChange={(event) => replace.current(PLAYS[Number(event.currentTarget.value)].code)}>
              {PLAYS.map(({ title }, i) => (
                <option key={title} value={String(i)}>
                  {title}
                </option>
              ))}
            </select>
          </label>
          <div class="spacer" />
          <button type="button" class="button" onClick={() => void share({ play: playCode.value })}>
            Copy link
          </button>
        </div>
        <div class="editor" ref={editor} />
        {failed.value !== undefined && (
          <pre class="notice" role="status">
            {failed.value}
          </pre>
        )}
        <div class="times">
          {Object.entries(times.value).map(([name, milliseconds]) => (
            <p key={name} class="about">
              {name}: <b>{milliseconds < 10 ? milliseconds.toFixed(1) : milliseconds.toFixed(0)} ms</b>
            </p>
          ))}
          {choice.value.backend === "cpu" && (
            <button
              type="button"
              class="quiet"
              onClick={() => void openDevice({ backend: "webgpu", precision: "f32" })}
            >
              Try it on the GPU
            </button>
          )}
          <label class="pick">
            <input
              type="checkbox"
              checked={generated.value}
              onChange={(event) => (generated.value = event.currentTarget.checked)}
            />
            <span>Show the generated {choice.value.backend === "cpu" ? "WebAssembly" : "WGSL"}</span>
          </label>
        </div>
        {generated.value &&
          result.value?.generated.map(({ name, code }) => (
            <details key={name} class="generated">
              <summary>
                {name} <small>{code.split("\n").length.toLocaleString("en-US")} lines</small>
              </summary>
              <pre tabIndex={0}>{code.length > LISTED ? `${code.slice(0, LISTED)}\n…` : code}</pre>
            </details>
          ))}
      </section>
      <section aria-label="Solution" class="charts one">
        {result.value?.charts.map((chart) => (
          <ChartView key={chart.title} chart={chart} />
        ))}
      </section>
    </div>
  );
}
