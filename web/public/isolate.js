// A service worker for hosts that cannot send the headers of cross-origin isolation: it adds them to every answer, so
// that threads may share memory. It keeps nothing, and asks for nothing that the page does not ask for.
self.addEventListener("install", () => self.skipWaiting());
self.addEventListener("activate", (event) => event.waitUntil(self.clients.claim()));
self.addEventListener("fetch", (event) => event.respondWith(isolated(event.request)));

async function isolated(request) {
  const response = await fetch(request);
  if (response.status === 0) return response;
  const headers = new Headers(response.headers);
  headers.set("Cross-Origin-Opener-Policy", "same-origin");
  headers.set("Cross-Origin-Embedder-Policy", "require-corp");
  headers.set("Cross-Origin-Resource-Policy", "same-origin");
  const { body, status, statusText } = response;
  return new Response(body, { status, statusText, headers });
}
