/** The ports that the API is served on. */
import type { JsonDocument } from '../../api/json-document.ts';
import { issuerDocuments, KEYS_PATH } from '../../server/access/authn/tokens/issuer-documents.ts';
import type { Server } from '../../server/index.ts';
import { createHttpServer, type HttpServer, type HttpServerOptions } from '../../server/serving/http/server.ts';
import { INSECURE_HOST, serverUrl } from '../addresses.ts';
import type { Cleanup } from '../cleanup.ts';
import type { AccountTokens } from './authentication.ts';
import { type HostAndPort, ListenError } from './listen-error.ts';

type FromServer = 'handle' | 'registry' | 'backends' | 'authorizer' | 'authenticate' | 'flowControl';

export interface HttpsOptions extends Omit<HttpServerOptions, FromServer> {
  readonly server: Server;
  /** Port 0: any that is free. */
  readonly listeners: readonly HostAndPort[];
  readonly cleanup: Cleanup;
}

export interface ServedApi {
  readonly http: HttpServer;
  /** One for each listener. */
  readonly urls: readonly [string, ...string[]];
}

/** Serves the API over HTTPS. Rejects with a ListenError when an address cannot be listened on. */
export async function serveHttps({ server, listeners, cleanup, ...options }: HttpsOptions): Promise<ServedApi> {
  const { handle, registry, backends, authorizer, authenticate, flowControl } = server;
  const http = createHttpServer({
    ...options,
    handle,
    registry,
    backends,
    authorizer,
    authenticate,
    flowControl,
  });
  cleanup.add(() => http.close());
  const urls: string[] = [];
  for (const address of listeners) {
    const { host } = address;
    const { port } = await listening(address, () => http.listen(address.port, host));
    urls.push(serverUrl(host, port));
  }
  return { http, urls: urls as [string, ...string[]] };
}

/** Serves the API over plain HTTP, without authentication, on loopback. Resolves with the URL. */
export async function serveInsecure(http: HttpServer, port: number): Promise<string> {
  const host = INSECURE_HOST;
  await listening({ host, port }, () => http.listenInsecure(port, host));
  return `http://${host}:${port}`;
}

async function listening<T>(address: HostAndPort, listen: () => Promise<T>): Promise<T> {
  try {
    return await listen();
  } catch (error) {
    throw new ListenError(address, error as NodeJS.ErrnoException);
  }
}

/** Where others find the keys that tokens of service accounts are verified with. `url` is that of the server. */
export function tokenDocuments(tokens: AccountTokens, url: string): readonly JsonDocument[] {
  const [issuer = ''] = tokens.issuers;
  const make = () => issuerDocuments({ issuer, keysUrl: `${url}${KEYS_PATH}`, keys: tokens.keys });
  return make().map((_, index) => currentDocument(() => make()[index]!));
}

/** A document whose content changes; its path stays. */
function currentDocument(make: () => JsonDocument): JsonDocument {
  const { path, type } = make();
  return {
    path,
    type,
    get content() {
      return make().content;
    },
  };
}
