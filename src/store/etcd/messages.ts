/**
 * The messages of etcd v3, with only the fields that this store uses. Names of messages and fields are our own.
 * codec.ts encodes them, methods.ts assigns them to methods.
 */

export interface KeyValue {
  readonly key: Buffer;
  readonly modRevision: number;
  readonly version: number;
  readonly value: Buffer;
}

export interface RangeRequest {
  readonly key: Buffer;
  /** End of the range, exclusive; a single zero byte: unlimited. Empty: `key` alone. */
  readonly rangeEnd?: Buffer;
  readonly limit?: number;
  readonly revision?: number;
  readonly keysOnly?: boolean;
}

export interface RangeResponse {
  readonly header: ResponseHeader;
  readonly kvs: readonly KeyValue[];
  readonly more: boolean;
}

export interface ResponseHeader {
  readonly revision: number;
  /** Number of the election by which the member had its leader. */
  readonly term: number;
}

export interface Compare {
  readonly target: (typeof CompareTarget)[keyof typeof CompareTarget];
  readonly key: Buffer;
  readonly version?: number;
  readonly modRevision?: number;
}

export type RequestOperation =
  | { readonly range: RangeRequest }
  | { readonly put: { readonly key: Buffer; readonly value: Buffer } }
  | { readonly deleteRange: { readonly key: Buffer } };

export interface TxnRequest {
  readonly compare: readonly Compare[];
  readonly success: readonly RequestOperation[];
  readonly failure: readonly RequestOperation[];
}

export interface TxnResponse {
  readonly header: ResponseHeader;
  readonly succeeded: boolean;
  readonly responses: readonly { readonly range?: RangeResponse | null }[];
}

export interface CompactionRequest {
  readonly revision: number;
}

export interface WatchRequest {
  readonly create: {
    readonly key: Buffer;
    readonly rangeEnd: Buffer;
    readonly startRevision: number;
    readonly progressNotify: boolean;
    readonly previous: boolean;
    readonly fragment: boolean;
  };
}

export interface WatchResponse {
  readonly header: ResponseHeader;
  readonly created: boolean;
  readonly canceled: boolean;
  /** Above 0: the watch was cancelled because its start lies before this revision. */
  readonly compactRevision: number;
  readonly cancelReason: string;
  /** True when more of the same response follows. */
  readonly fragment: boolean;
  readonly events: readonly WatchEvent[];
}

export interface WatchEvent {
  readonly type: (typeof EventType)[keyof typeof EventType];
  readonly kv: KeyValue;
  readonly previous: KeyValue | null;
}

export const CompareTarget = { VERSION: 0, MOD: 2 } as const;
export const EventType = { PUT: 0, DELETE: 1 } as const;

export interface CompactionResponse {
  readonly header: ResponseHeader;
}
