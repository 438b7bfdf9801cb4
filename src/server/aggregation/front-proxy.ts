/** How this server identifies itself to the servers that it passes requests on to. All parts are PEM. */
export interface FrontProxy {
  /** The client certificate and its key. */
  readonly certificate: string;
  readonly key: string;
  /** The authorities that sign it. */
  readonly authority: string;
  /** The authorities that sign certificates of users. */
  readonly clientAuthority: string;
  /** Other proxies that may name users: who signs their certificates, and for which names; none: for all. */
  readonly others?: { readonly authority: string; readonly names: readonly string[] };
}

/** The common name of the client certificate; other servers believe the headers of no other. */
export const FRONT_PROXY_NAME = 'front-proxy-client';
