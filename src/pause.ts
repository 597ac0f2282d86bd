/**
 * Lets the event loop turn: a device that works in the background has said something, a signal has come, a page can
 * be drawn.
 */
export function pause(): Promise<void> {
  if (typeof setImmediate === "function") return new Promise((resolve) => setImmediate(resolve));
  // Timers would wait for 4 ms in a page.
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      resolve();
    };
    port2.postMessage(undefined);
  });
}
