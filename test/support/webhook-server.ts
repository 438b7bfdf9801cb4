/** A webhook on loopback: answers AdmissionReviews and ConversionReviews by the path they are sent to. */
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { testAuthority } from './tls.ts';

/** Answer of a webhook to a request; undefined: it never answers. */
type Decide = (request: any) => object | string | undefined;

export interface WebhookServer {
  readonly port: number;
  /** PEM as base64, for `caBundle`. */
  readonly caBundle: string;
  /** Decides at `/name`. */
  on(name: string, decide: Decide): void;
  /** The requests that were sent to `/name`. */
  asked(name: string): any[];
  url(name: string): string;
  close(): void;
}

export async function startWebhooks(...names: readonly string[]): Promise<WebhookServer> {
  const authority = await testAuthority('webhook-ca');
  const decisions = new Map<string, Decide>();
  const requests = new Map<string, any[]>();
  const server: Server = createServer(await authority.server(...names), async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const name = request.url!.split('?')[0]!.slice(1);
    const { kind, apiVersion, request: asked } = JSON.parse(Buffer.concat(chunks).toString());
    requests.set(name, [...(requests.get(name) ?? []), asked]);
    const decision = decisions.get(name)?.(asked);
    if (decision === undefined) return;
    if (typeof decision === 'string') response.end(decision);
    else response.end(JSON.stringify({ kind, apiVersion, response: { uid: asked.uid, ...decision } }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    port,
    caBundle: Buffer.from(authority.ca).toString('base64'),
    on: (name, decide) => void decisions.set(name, decide),
    asked: (name) => requests.get(name) ?? [],
    url: (name) => `https://127.0.0.1:${port}/${name}`,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

export const jsonPatch = (...operations: readonly object[]) => ({
  allowed: true,
  patchType: 'JSONPatch',
  patch: Buffer.from(JSON.stringify(operations)).toString('base64'),
});
