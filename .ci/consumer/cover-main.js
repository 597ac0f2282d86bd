// Prints what `cover` gives: run as it is and minified, it must print the same. Numbers are written so that no bit is lost.
import { cover } from "./cover.js";

const exactly = (_, value) =>
  typeof value === "number" && (!Number.isFinite(value) || Object.is(value, -0))
    ? `${value === 0 ? "-0" : value}`
    : value;
console.log(JSON.stringify(await cover(), exactly, 1));
