/** A whole number with a comma between thousands. `toLocaleString` loads Node's tables of all languages, for 10 ms. */
export const grouped = (n: number): string => String(n).replaceAll(/\B(?=(\d{3})+(?!\d))/g, ",");
