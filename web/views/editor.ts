/** The code editor, by CodeMirror: loaded when the playground is opened. */
import { type CompletionContext, type CompletionResult, autocompletion } from "@codemirror/autocomplete";
import { javascript } from "@codemirror/lang-javascript";
import { HighlightStyle, syntaxHighlighting } from "@codemirror/language";
import { tags } from "@lezer/highlight";
import { basicSetup, EditorView } from "codemirror";

export interface Editor {
  readonly replace: (code: string) => void;
  readonly destroy: () => void;
}

export function createEditor(parent: HTMLElement, doc: string, onChange: (code: string) => void): Editor {
  const view = new EditorView({
    parent,
    doc,
    extensions: [
      basicSetup,
      javascript({ typescript: true }),
      autocompletion({ override: [complete] }),
      EditorView.lineWrapping,
      EditorView.contentAttributes.of({ "aria-label": "The equation, as a problem for solve" }),
      EditorView.updateListener.of((update) => {
        if (update.docChanged) onChange(update.state.doc.toString());
      }),
      theme,
      syntaxHighlighting(colours),
    ],
  });
  return {
    replace: (code) => view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: code } }),
    destroy: () => view.destroy(),
  };
}

const theme = EditorView.theme({
  "&": { backgroundColor: "transparent", color: "var(--ink)", fontSize: "13.5px" },
  ".cm-content": {
    caretColor: "var(--accent)",
    fontFamily: "ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace",
  },
  ".cm-gutters": { backgroundColor: "transparent", color: "var(--soft)", border: "none" },
  ".cm-activeLine, .cm-activeLineGutter": { backgroundColor: "color-mix(in srgb, var(--accent) 7%, transparent)" },
  "&.cm-focused": { outline: "none" },
  ".cm-tooltip": {
    backgroundColor: "var(--raised)",
    color: "var(--ink)",
    border: "1px solid var(--line)",
    borderRadius: "8px",
  },
  ".cm-completionDetail": { color: "var(--soft)", fontStyle: "normal" },
  ".cm-cursor": { borderLeftColor: "var(--accent)" },
});

const colours = HighlightStyle.define([
  { tag: [tags.keyword, tags.definitionKeyword], color: "light-dark(#8a3ea8, #d49bea)" },
  { tag: [tags.number, tags.bool], color: "light-dark(#00689c, #7cc3f0)" },
  { tag: [tags.string], color: "light-dark(#1f6f3f, #7fd09b)" },
  { tag: [tags.comment], color: "light-dark(#5d6a70, #93a3aa)", fontStyle: "italic" },
  { tag: [tags.propertyName, tags.definition(tags.propertyName)], color: "light-dark(#0b6464, #5fd0c9)" },
]);

/** What a problem may have, by where the cursor stands. */
const FIELDS: readonly (readonly [label: string, detail: string, info: string])[] = [
  ["axes", "one to three", "Names with { from, to, nodes, points, coordinate, density }"],
  ["parameters", "numbers, or lists of them", "One solution for each entry of the lists"],
  ["equation", "coefficients", "∂V/∂t + SS·∂²V/∂S² + S·∂V/∂S + V·V + source = 0"],
  ["terminal", "V at expiry", "A function of the state, or a formula"],
  ["expiry", "years", "From today"],
  ["conditions", "exercise, knock-out, jump", "What holds on dates or over time"],
  ["boundaries", "linear, dirichlet, neumann", "At the ends of an axis"],
  ["scheme", "time stepping", "crank-nicolson, bdf2 …, on several axes ADI"],
  ["steps", "number", "Time steps"],
  ["nodes", "number", "Of an axis; 201 by default"],
  ["points", "list", "Where nodes are dense: strikes, barriers, spots"],
  ["coordinate", '"linear" or "log"', "In which derivatives are discretised"],
  ["kind", '"exercise", "knock-out", "jump"', "Of a condition"],
  ["payoff", "V ≥ payoff", "Of an exercise condition"],
  ["errorEstimate", "true", "Solves on a second mesh"],
  ["extrapolate", "true", "Richardson's extrapolation"],
  ["Math.max", "(a, b)", "The larger one"],
  ["Math.exp", "(x)", "Exponential"],
  ["Math.abs", "(x)", "Size"],
  ["Math.sqrt", "(x)", "Square root"],
];

function complete(context: CompletionContext): CompletionResult | null {
  const word = context.matchBefore(/[\w.]+/);
  if (word === null && !context.explicit) return null;
  return {
    from: word?.from ?? context.pos,
    options: FIELDS.map(([label, detail, info]) => ({
      label,
      detail,
      info,
      type: label.startsWith("Math") ? "function" : "property",
    })),
  };
}
