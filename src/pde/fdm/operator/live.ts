import { fn, i32, record } from "../../../kernel/index.ts";

/**
 * The ends of the live nodes, as rows of an item that holds the nodes from `first` on. Nodes up to `low` and from
 * `high` on are knocked out. `lowHeld` and `highHeld` are those whose value is held, −1 where the item has none. A
 * value that is not held is discounted. All may lie far outside the item's nodes.
 */
export const Live = record({ low: i32, high: i32, lowHeld: i32, highHeld: i32 });

/**
 * Tells whether node i is at or beyond an end of the live nodes, so that its equation is decoupled from its neighbours.
 */
export const cutOff = fn({
  name: "cutOff",
  params: [Live, i32],
  body([{ low, high }, i]) {
    return i <= low || i >= high;
  },
});
