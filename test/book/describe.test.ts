/** Trades in words. */
import { expect, test } from "vitest";
import { describeTrade } from "../../src/book/describe.ts";
import { readBook } from "../../src/book/index.ts";
import { asOf, market, trade } from "./books.ts";

const said = (changes: object): string => {
  const [parsed] = readBook({ asOf, market: market(), trades: [trade({ exercise: "european", ...changes })] }).trades;
  return parsed.ok ? describeTrade(parsed.trade) : parsed.error.message;
};

test("barriers are named by what all of them do", () => {
  const [low, high] = [80, 130];
  const barriers = (first: string, second: string): object => ({
    barriers: [
      { type: first, level: low },
      { type: second, level: high },
    ],
  });
  expect(said({})).toMatch(/^European put/);
  expect(said({ barriers: [{ type: "down-and-out", level: low }] })).toMatch(/^European down-and-out put/);
  expect(said(barriers("down-and-out", "up-and-out"))).toMatch(/^European double knock-out put/);
  expect(said(barriers("down-and-in", "up-and-out"))).toMatch(/^European double-barrier put/);
  expect(said(barriers("down-and-in", "up-and-in"))).toMatch(/^European double-barrier put/);
});
