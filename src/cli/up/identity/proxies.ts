/** Options from the flags of authenticating proxies. */
import type { Pki } from '../../../assembly/keys/pki.ts';
import { type RequestHeaderUser, requestHeaderUser } from '../../../server/access/authn/request-headers.ts';
import type { FrontProxy } from '../../../server/serving/aggregation/front-proxy.ts';
import type { Tls } from '../../../server/serving/http/listen/listeners.ts';
import { clientAuthorities, proxyAuthorities } from './authentication-files.ts';
import type { IdentityFlags } from './flags.ts';

/** Finds the user that a proxy names; undefined: no proxy is believed. */
export function proxiedUsers(flags: IdentityFlags): RequestHeaderUser | undefined {
  if (flags.requestheaderClientCaFile === undefined) return undefined;
  return requestHeaderUser({
    allowedNames: flags.requestheaderAllowedNames ?? [],
    usernameHeaders: flags.requestheaderUsernameHeaders,
    groupHeaders: flags.requestheaderGroupHeaders,
    extraHeaderPrefixes: flags.requestheaderExtraHeadersPrefix,
  });
}

/** The serving certificate, and the authorities whose client certificates are accepted. */
export async function tlsOf({ serving, authority }: Pki, flags: IdentityFlags): Promise<Tls> {
  return {
    key: serving.key,
    cert: serving.certificate,
    ca: await clientAuthorities(authority, flags.clientCaFile),
    proxyCa: await proxyAuthorities(flags),
  };
}

/** How aggregated API servers recognize this one and other proxies, and the users whose certificates they accept. */
export async function frontProxyOf({ frontProxy, authority }: Pki, flags: IdentityFlags): Promise<FrontProxy> {
  const proxyCa = await proxyAuthorities(flags);
  const headers = {
    username: flags.requestheaderUsernameHeaders,
    group: flags.requestheaderGroupHeaders,
    extraPrefixes: flags.requestheaderExtraHeadersPrefix,
  };
  const others = proxyCa && { authority: proxyCa, names: flags.requestheaderAllowedNames ?? [], headers };
  return {
    ...frontProxy,
    clientAuthority: await clientAuthorities(authority, flags.clientCaFile),
    others: others || undefined,
  };
}
