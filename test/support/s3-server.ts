/** A server that speaks as much of S3's protocol as runs need, in memory: for tests without a network. */
import { createHash } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface S3Server extends AsyncDisposable {
  readonly url: string;
  /** Bytes by bucket and key. */
  readonly objects: Map<string, Buffer>;
  /** What the next requests are answered with instead, one each. */
  readonly failures: number[];
}

/** Keys in a page of a list: few, so that pages are tested. */
const PAGE = 3;

export async function startS3(): Promise<S3Server> {
  const objects = new Map<string, Buffer>();
  const failures: number[] = [];
  const server = createServer((request, response) => {
    void answer(request, response, objects, failures);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    objects,
    failures,
    [Symbol.asyncDispose]: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  objects: Map<string, Buffer>,
  failures: number[],
): Promise<void> {
  const body: Buffer[] = [];
  for await (const chunk of request) body.push(chunk as Buffer);
  const { pathname, searchParams } = new URL(request.url ?? "", "http://localhost");
  const key = decodeURIComponent(pathname.slice(1));
  const failure = failures.shift();
  if (failure !== undefined) return void response.writeHead(failure).end(xml("Error", "<Code>SlowDown</Code>"));
  if (request.method === "PUT") {
    objects.set(key, plain(Buffer.concat(body), request));
    return void response.writeHead(200, { etag: `"${etag(objects.get(key)!)}"` }).end();
  }
  if (request.method === "DELETE") {
    objects.delete(key);
    return void response.writeHead(204).end();
  }
  if (searchParams.has("list-type"))
    return void response.writeHead(200).end(list(key.replace(/\/$/, ""), searchParams, objects));
  const bytes = objects.get(key);
  if (bytes === undefined) return void response.writeHead(404).end(xml("Error", "<Code>NoSuchKey</Code>"));
  const [, from, to] = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? "") ?? [];
  const part = from === undefined ? bytes : bytes.subarray(Number(from), Number(to) + 1);
  response.writeHead(from === undefined ? 200 : 206, { "content-length": part.length, etag: `"${etag(bytes)}"` });
  response.end(request.method === "HEAD" ? undefined : part);
}

/** A body that is sent in signed pieces, `SIZE;…CRLF BYTES CRLF`, put together. */
function plain(body: Buffer, request: IncomingMessage): Buffer {
  if (!/aws-chunked/.test(request.headers["content-encoding"] ?? "")) return body;
  const pieces: Buffer[] = [];
  for (let at = 0; at < body.length;) {
    const end = body.indexOf("\r\n", at);
    const size = Number.parseInt(body.toString("latin1", at, end), 16);
    if (!(size > 0)) break;
    pieces.push(body.subarray(end + 2, end + 2 + size));
    at = end + 2 + size + 2;
  }
  return Buffer.concat(pieces);
}

function list(bucket: string, query: URLSearchParams, objects: Map<string, Buffer>): string {
  const prefix = `${bucket}/${query.get("prefix") ?? ""}`;
  const after = query.get("continuation-token") ?? "";
  const keys = [...objects.keys()].filter((key) => key.startsWith(prefix) && key > after).sort();
  const page = keys.slice(0, PAGE);
  const isTruncated = keys.length > page.length;
  return xml(
    "ListBucketResult",
    page.map((key) => `<Contents><Key>${key.slice(bucket.length + 1)}</Key></Contents>`).join("") +
      `<IsTruncated>${isTruncated}</IsTruncated>` +
      (isTruncated ? `<NextContinuationToken>${page[page.length - 1]}</NextContinuationToken>` : ""),
  );
}

const etag = (bytes: Buffer): string => createHash("md5").update(bytes).digest("hex");
const xml = (name: string, inner: string): string =>
  `<?xml version="1.0" encoding="UTF-8"?><${name} xmlns="http://s3.amazonaws.com/doc/2006-03-01/">${inner}</${name}>`;
