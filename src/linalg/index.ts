/** Linear algebra on every device: the numerical parts without finance. */
export * from "./tridiagonal/index.ts";
export * from "./dense/index.ts";
