import type { UserHeaderNames } from './user-headers.ts';

/** The identity of this server towards the servers that it forwards requests to. All parts are PEM. */
export interface FrontProxy {
  /** The client certificate and its key. */
  readonly certificate: string;
  readonly key: string;
  /** The authorities that sign the client certificate. */
  readonly authority: string;
  /** The authorities that sign certificates of users. */
  readonly clientAuthority: string;
  /** Other proxies that may name users. */
  readonly others?: OtherProxies;
}

interface OtherProxies {
  /** The authorities that sign their certificates. */
  readonly authority: string;
  /** The allowed names in their certificates; if empty, all are allowed. */
  readonly names: readonly string[];
  /** The headers with user names. Servers that trust these proxies read them also in requests from this server. */
  readonly headers: UserHeaderNames;
}

/** The common name of the client certificate; other servers trust the headers of no other name. */
export const FRONT_PROXY_NAME = 'front-proxy-client';
