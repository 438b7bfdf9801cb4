/** Interprets HTTP responses to the client's requests. */
import type { Readable } from 'node:stream';
import type { ApiError, Status } from '../../../api/errors.ts';
import { exceeded } from '../../../base/json/size.ts';
import type { KubeObject } from '../../../kinds/kind.ts';
import { errorOfCode, errorOfStatus } from '../../status-error.ts';
import type { Answer, ListMeta, RawEvent, Request } from '../transport.ts';
import type { UnparsedBytes } from './unparsed-bytes.ts';

/** The head of a response, and a stream of its body. */
export type HttpResponse = Readable & { readonly statusCode?: number | undefined };

export interface JsonLimits {
  readonly maxBytes: number;
  readonly maxDepth: number;
  /** Limit for fields, list items, objects and lists together: small ones take much more memory than their text. */
  readonly maxParts: number;
  /** Limits all responses of the server together. Default: each response is limited on its own. */
  readonly unparsed?: UnparsedBytes;
}

export interface Body {
  readonly code: number;
  readonly text: string;
}

export async function bodyOf(response: HttpResponse, limits?: JsonLimits): Promise<Body> {
  const chunks: Buffer[] = [];
  const part = limits?.unparsed?.open();
  let bytes = 0;
  try {
    for await (const chunk of response) {
      bytes += (chunk as Buffer).length;
      if (limits && bytes > limits.maxBytes) throw new Error(`the response is larger than ${limits.maxBytes} bytes`);
      part?.hold(bytes);
      chunks.push(chunk as Buffer);
    }
  } finally {
    part?.release();
  }
  const text = Buffer.concat(chunks).toString('utf8');
  checkShape(text, limits);
  return { code: response.statusCode ?? 0, text };
}

export function parseEvent(line: string, limits?: JsonLimits): RawEvent {
  checkShape(line, limits);
  return JSON.parse(line);
}

function checkShape(text: string, limits: JsonLimits | undefined): void {
  switch (limits && exceeded(text, limits)) {
    case 'depth':
      throw new Error(`the response is nested deeper than ${limits!.maxDepth} levels`);
    case 'parts':
      throw new Error(`the response has more than ${limits!.maxParts} parts`);
    case undefined:
  }
}

/** Parses a successful response. */
export function answerOf(request: Request, body: Body): Answer {
  const value = parseObject(body.text);
  if (!value) throw errorOfCode(body.code, body.text);
  if (value.kind === 'Status') return { type: 'status', status: value as unknown as Status };
  if (request.verb !== 'list') return { type: 'object', object: value as unknown as KubeObject };
  const { metadata, items } = value as unknown as { metadata: ListMeta; items?: KubeObject[] | null };
  if (items === undefined ? !/List$/.test(String(value.kind)) : items !== null && !Array.isArray(items)) {
    throw errorOfCode(body.code, body.text, 'a list');
  }
  // Some servers send these fields only in the list, not in its items.
  const common = { apiVersion: request.apiVersion, kind: String(value.kind).replace(/List$/, '') };
  return {
    type: 'list',
    metadata,
    bytes: body.text.length,
    items: (items ?? []).map((item) => (item?.kind ? item : { ...common, ...item })),
  };
}

export function failureOf({ code, text }: Body): ApiError {
  const status = statusIn(text);
  return status ? errorOfStatus({ code, ...status }) : errorOfCode(code, text);
}

/** Parses a Status of the API; proxies respond in other formats. */
export function statusIn(text: string): Partial<Status> | undefined {
  const value = parseObject(text);
  return value?.kind === 'Status' ? value : undefined;
}

export function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const value = JSON.parse(text);
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}
