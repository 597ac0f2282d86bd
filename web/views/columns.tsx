/** Asks what the columns of a table mean: a term of the trade, a tag, or nothing. */
import { useSignal } from "@preact/signals";
import type { VNode } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { ask, openFiles, unmapped } from "../state/store.ts";

type Meaning = "term" | "tag" | "nothing";

export function ColumnsDialog(): VNode | null {
  return unmapped.value === undefined ? null : <Columns {...unmapped.value} />;
}

function Columns({ files, columns, map }: NonNullable<typeof unmapped.value>): VNode {
  const dialog = useRef<HTMLDialogElement>(null);
  const terms = useSignal<readonly string[]>([]);
  const meanings = useSignal<Readonly<Record<string, Meaning>>>(
    Object.fromEntries(columns.map(({ name, near }) => [name, near === undefined ? "tag" : "term"])),
  );
  const chosen = useSignal<Readonly<Record<string, string>>>(
    Object.fromEntries(columns.map(({ name, near }) => [name, near ?? ""])),
  );
  useEffect(() => {
    dialog.current?.showModal();
    void ask("The terms cannot be listed", "terms", undefined).then((all) => (terms.value = all ?? []));
  }, []);
  const load = (event: Event): void => {
    event.preventDefault();
    const own = columns.map(({ name }): [string, string] => {
      const { [name]: meaning } = meanings.value;
      return [name, meaning === "tag" ? `tag.${name}` : meaning === "term" ? chosen.value[name] : ""];
    });
    void openFiles(files, { ...map, ...Object.fromEntries(own) });
  };
  return (
    <dialog ref={dialog} aria-labelledby="columns-title" onClose={() => (unmapped.value = undefined)}>
      <form onSubmit={load}>
        <h2 id="columns-title">What do these columns mean?</h2>
        <p class="about">
          They have names of their own. A tag goes along with the results, and trades can be grouped by it.
        </p>
        <datalist id="terms">
          {terms.value.map((term) => (
            <option key={term} value={term} />
          ))}
        </datalist>
        <div class="mapping">
          {columns.map(({ name }) => (
            <div key={name} class="form-row">
              <span class="name">{name}</span>
              <div class="what time">
                <select
                  aria-label={`${name} is`}
                  value={meanings.value[name]}
                  onChange={(event) =>
                    (meanings.value = { ...meanings.value, [name]: event.currentTarget.value as Meaning })
                  }
                >
                  <option value="term">the term</option>
                  <option value="tag">a tag</option>
                  <option value="nothing">left out</option>
                </select>
                {meanings.value[name] === "term" && (
                  <input
                    type="text"
                    list="terms"
                    required
                    aria-label={`Term of ${name}`}
                    value={chosen.value[name]}
                    pattern={terms.value.length === 0 ? undefined : patternOf(terms.value)}
                    title="a term of a trade, such as strike"
                    onInput={(event) => (chosen.value = { ...chosen.value, [name]: event.currentTarget.value })}
                  />
                )}
              </div>
            </div>
          ))}
        </div>
        <div class="actions">
          <button type="button" class="button" onClick={() => dialog.current?.close()}>
            Cancel
          </button>
          <button type="submit" class="button primary">
            Load
          </button>
        </div>
      </form>
    </dialog>
  );
}

const patternOf = (terms: readonly string[]): string =>
  terms.map((term) => term.replaceAll(/[^\w]/g, (character) => `\\${character}`)).join("|");
