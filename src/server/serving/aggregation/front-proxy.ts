import type { UserHeaderNames } from './user-headers.ts';

/** How this server identifies itself to the servers that it passes requests on to. All parts are PEM. */
export interface FrontProxy {
  /** The client certificate and its key. */
  readonly certificate: string;
  readonly key: string;
  /** The authorities that sign it. */
  readonly authority: string;
  /** The authorities that sign certificates of users. */
  readonly clientAuthority: string;
  /** Other proxies that may name users. */
  readonly others?: OtherProxies;
}

interface OtherProxies {
  /** Who signs their certificates. */
  readonly authority: string;
  /** The names in them; none: all. */
  readonly names: readonly string[];
  /** Where they name users. Servers that believe them look there, also in what this server sends. */
  readonly headers: UserHeaderNames;
}

/** The common name of the client certificate; other servers believe the headers of no other. */
export const FRONT_PROXY_NAME = 'front-proxy-client';
