/** Where the host does not isolate the page from other origins, a service worker does. */

/**
 * True where the page is about to be opened again, under the service worker. That is tried once: without it the page
 * computes on one thread.
 */
export async function opensAgain(): Promise<boolean> {
  const isPossible = globalThis.isSecureContext && "serviceWorker" in navigator && window.top === window;
  if (globalThis.crossOriginIsolated || !isPossible || sessionStorage.getItem("isolating") !== null) return false;
  sessionStorage.setItem("isolating", "tried");
  try {
    await navigator.serviceWorker.register(new URL("isolate.js", document.baseURI));
    await navigator.serviceWorker.ready;
    location.reload();
    return true;
  } catch {
    return false;
  }
}
