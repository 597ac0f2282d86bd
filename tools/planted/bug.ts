/** A small change of the sources, with the tests beside it that are to find it. */
export interface Bug {
  /** Relative to src. */
  readonly file: string;
  readonly from: string;
  readonly to: string;
  readonly tests: readonly string[];
}

export type Change = readonly [file: string, from: string, to: string];

/** Bugs of one folder, or of several with "", and the tests beside them, which take seconds. */
export const beside = (folder: string, names: string, changes: readonly Change[]): Bug[] => {
  const tests = names.split(" ").map((name) => `test/${name}.test.ts`);
  const within = folder === "" ? "" : `${folder}/`;
  return changes.map(([file, from, to]) => ({ file: `${within}${file}`, from, to, tests }));
};
