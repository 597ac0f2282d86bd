/** Whether FEYNKAC_REQUIRE, a list such as "webgpu,browser,cuda", says that a test must run rather than be skipped. */
export const isRequired = (what: string): boolean =>
  (process.env["FEYNKAC_REQUIRE"] ?? "").split(/[ ,]+/).includes(what);
