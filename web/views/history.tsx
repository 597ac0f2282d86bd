/** Taking edits back, and what has been edited since the book was loaded. */
import { useSignal } from "@preact/signals";
import type { VNode } from "preact";
import { useEffect } from "preact/hooks";
import type { Change } from "../engine/protocol.ts";
import { titleOf } from "../form/schema.ts";
import { book, ask, redo, redos, undo, undos } from "../state/store.ts";
import { Menu } from "./menu.tsx";

export function History(): VNode | null {
  useEffect(() => {
    document.addEventListener("keydown", keys);
    return () => document.removeEventListener("keydown", keys);
  }, []);
  if (undos.value.length === 0 && redos.value.length === 0) return null;
  return (
    <div class="history" role="group" aria-label="Edits">
      <button type="button" class="button" disabled={undos.value.length === 0} onClick={() => void undo()}>
        Undo
      </button>
      <button type="button" class="button" disabled={redos.value.length === 0} onClick={() => void redo()}>
        Redo
      </button>
      <Menu label="Changes" button="Changes" className="button">
        {() => <Changes />}
      </Menu>
    </div>
  );
}

/** Ctrl+Z and Ctrl+Shift+Z, but in a field, which has its own. */
function keys(event: KeyboardEvent): void {
  const target = event.target as HTMLElement;
  if (!(event.ctrlKey || event.metaKey) || event.key.toLowerCase() !== "z") return;
  if (target.matches("input, textarea, [contenteditable='true']")) return;
  event.preventDefault();
  void (event.shiftKey ? redo() : undo());
}

const LISTED = 200;

function Changes(): VNode {
  const changes = useSignal<readonly Change[] | undefined>(undefined);
  useEffect(() => {
    void ask("The changes cannot be shown", "changes", undefined).then((found) => (changes.value = found));
  }, [book.value]);
  if (changes.value === undefined) return <p class="hint">Comparing …</p>;
  if (changes.value.length === 0) return <p class="hint">The book is as it was loaded.</p>;
  return (
    <table class="changes">
      <caption>Since the book was loaded</caption>
      <thead>
        <tr>
          <th scope="col">of</th>
          <th scope="col">field</th>
          <th scope="col">before</th>
          <th scope="col">now</th>
        </tr>
      </thead>
      <tbody>
        {changes.value.slice(0, LISTED).map(({ of, path, before, after }) => (
          <tr key={`${of} ${path}`}>
            <th scope="row">{of}</th>
            <td>{path === "" ? "the trade" : path.split(".").map(titleOf).join(", ")}</td>
            <td class="was">{before ?? "–"}</td>
            <td>{after ?? "–"}</td>
          </tr>
        ))}
      </tbody>
      {changes.value.length > LISTED && (
        <tfoot>
          <tr>
            <td colSpan={4}>and {(changes.value.length - LISTED).toLocaleString("en-US")} more</td>
          </tr>
        </tfoot>
      )}
    </table>
  );
}
