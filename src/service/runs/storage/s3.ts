/**
 * Storage of runs under a prefix of an S3 bucket. Credentials, region and endpoint come from the usual environment
 * variables of AWS.
 */
import type * as S3 from "@aws-sdk/client-s3";
import { RunError, StorageError } from "../error.ts";
import type { Store, StoredFile } from "./store.ts";

type Sdk = typeof S3;

interface ObjectLocation {
  readonly bucket: string;
  /** The key without slashes at its start and end. */
  readonly key: string;
}

/** Splits a URL into bucket and key. @throws RunError if it has no bucket */
function placeOf(url: string): ObjectLocation {
  const [, bucket, key = ""] = /^s3:\/\/([^/?#]+)\/?([^?#]*)$/.exec(url) ?? [];
  if (bucket === undefined) throw new RunError(`${url}: expected s3://BUCKET/PREFIX`);
  return { bucket, key: key.replace(/\/+$/, "") };
}

/** Creates an S3 client. @throws RunError if the package of the client is not installed */
async function connect(): Promise<{ readonly sdk: Sdk; readonly client: S3.S3Client }> {
  let sdk: Sdk;
  try {
    sdk = await import("@aws-sdk/client-s3");
  } catch (cause) {
    throw new RunError("s3:// needs the package @aws-sdk/client-s3: npm install @aws-sdk/client-s3", { cause });
  }
  const { AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL, AWS_REGION } = process.env;
  // Servers other than Amazon's seldom have a host name for each bucket.
  const isOwnServer = (AWS_ENDPOINT_URL_S3 ?? AWS_ENDPOINT_URL) !== undefined;
  return {
    sdk,
    client: new sdk.S3Client({
      forcePathStyle: isOwnServer,
      ...(AWS_REGION === undefined && isOwnServer ? { region: "us-east-1" } : {}),
    }),
  };
}

/** Opens a store whose files are objects in S3. @throws RunError a URL without a bucket, or no S3 client installed */
export async function s3Store(url: string): Promise<Store> {
  const { bucket, key } = placeOf(url);
  const { sdk, client } = await connect();
  const keyOf = (name: string): string => (key === "" ? name : `${key}/${name}`);
  return {
    url,
    read: async (name) => {
      try {
        const { Body } = await client.send(new sdk.GetObjectCommand({ Bucket: bucket, Key: keyOf(name) }));
        return await Body?.transformToByteArray();
      } catch (cause) {
        if (isMissing(cause)) return undefined;
        throw failed("read", `${url}/${name}`, cause);
      }
    },
    write: async (files) => {
      for (const { name, bytes } of files) {
        const request = { Bucket: bucket, Key: keyOf(name), Body: bytes, ContentLength: bytes.length };
        await tried("write", `${url}/${name}`, () => client.send(new sdk.PutObjectCommand(request)));
      }
    },
    remove: async (name) => {
      const request = { Bucket: bucket, Key: keyOf(name) };
      await tried("remove", `${url}/${name}`, () => client.send(new sdk.DeleteObjectCommand(request)));
    },
    list: async (folder) => {
      const prefix = `${keyOf(folder)}/`;
      const names: string[] = [];
      let token: string | undefined;
      do {
        const request = { Bucket: bucket, Prefix: prefix, ContinuationToken: token };
        const page = await tried("list", `${url}/${folder}`, () => client.send(new sdk.ListObjectsV2Command(request)));
        names.push(...(page.Contents ?? []).map((one) => (one.Key ?? "").slice(prefix.length)));
        token = page.IsTruncated === true ? page.NextContinuationToken : undefined;
      } while (token !== undefined);
      return names;
    },
  };
}

/** Opens an S3 object for reading at any position. @throws RunError | StorageError */
export async function openS3(url: string): Promise<StoredFile> {
  const { bucket, key } = placeOf(url);
  const { sdk, client } = await connect();
  const head = await tried("read", url, () => client.send(new sdk.HeadObjectCommand({ Bucket: bucket, Key: key })));
  const byteLength = head.ContentLength ?? 0;
  return {
    byteLength,
    slice: async (start, end = byteLength) => {
      const last = Math.min(end, byteLength) - 1;
      if (last < start) return new ArrayBuffer(0);
      const request = { Bucket: bucket, Key: key, Range: `bytes=${start}-${last}`, IfMatch: head.ETag };
      return tried("read", url, async () => {
        const { Body } = await client.send(new sdk.GetObjectCommand(request));
        const bytes = new Uint8Array((await Body?.transformToByteArray()) ?? []);
        return bytes.buffer;
      });
    },
    close: async () => client.destroy(),
  };
}

async function tried<T>(what: string, place: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    throw failed(what, place, cause);
  }
}

function isMissing(cause: unknown): boolean {
  const { name, $metadata } = cause as { readonly name?: string; readonly $metadata?: { httpStatusCode?: number } };
  return name === "NoSuchKey" || (name === "NotFound" && $metadata?.httpStatusCode === 404);
}

function failed(what: string, place: string, cause: unknown): StorageError {
  const reason = isMissing(cause) ? "there is no such object" : (cause as Error).message || (cause as Error).name;
  return new StorageError(`cannot ${what} ${place}: ${reason}`, { cause });
}
