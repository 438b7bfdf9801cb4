/** The node of `host-node.ts`, but reached over HTTPS at the endpoint of an agent. */

import { silent } from '../../src/base/log.ts';
import { systemRandom } from '../../src/base/random.ts';
import { systemClock } from '../../src/base/time/clock.ts';
import type { Client } from '../../src/client/client.ts';
import { Endpoint } from '../../src/node/endpoint/endpoint.ts';
import type { EndpointNode, ServedPod } from '../../src/node/endpoint/endpoint-node.ts';
import type { Runtime } from '../../src/node/runtime/runtime.ts';
import { issue, issuerOf, newIssuer, newKey } from '../../src/protocols/x509/certificate.ts';
import { httpsConnection } from '../../src/server/outbound/nodes/https-connection.ts';
import { LOOPBACK_GUARD } from '../support/loopback-guard.ts';
import { type HostNode, hostNode } from './host-node.ts';

const DAY_MS = 86_400_000;
const ADDRESS = '127.0.0.1';

/** Issues certificates for one test. */
export async function nodeAuthority() {
  const { privateKey, publicKey } = await newKey();
  const subject = { commonName: 'ca' };
  const validity = { notBefore: Date.now() - DAY_MS, notAfter: Date.now() + DAY_MS };
  const ca = issue(
    { subject, publicKey, usage: 'authority', ...validity },
    newIssuer(subject, privateKey),
    systemRandom,
  );
  const leaf = async (
    commonName: string,
    usage: 'client' | 'server',
    names: readonly string[] = [],
    organization = commonName === SERVER_USER ? 'system:masters' : undefined,
  ) => {
    const pair = await newKey();
    const request = { subject: { commonName, organization }, publicKey: pair.publicKey, usage, names, ...validity };
    const cert = issue(request, issuerOf(ca, privateKey), systemRandom);
    return { cert, key: pair.privateKey.export({ type: 'pkcs8', format: 'pem' }) as string };
  };
  return { ca, leaf };
}

/** Answers the reviews of an endpoint: these users may do everything, and tokens are names. */
export function reviewClient(allowed: readonly string[], asked: object[] = []): Client {
  const answer = (kind: string, spec: any) =>
    kind === 'TokenReview'
      ? { status: { authenticated: spec.token !== 'bad', user: { username: spec.token, groups: [] } } }
      : { status: { allowed: allowed.includes(spec.user) } };
  return {
    of: ({ kind }: { kind: string }) => ({
      create: async ({ spec }: any) => {
        asked.push({ kind, ...spec });
        return answer(kind, spec);
      },
    }),
  } as unknown as Client;
}

/** A node whose pods are all there, and run on this machine. */
export function servedNode(host: HostNode, more: Partial<EndpointNode> = {}): EndpointNode {
  const nothing = { node: '', namespace: '', pod: '', container: '', signal: undefined };
  const runtime = {
    exec: (_id: string, { command, ...streams }) => host.exec({ ...nothing, command, streams }),
    attach: (_id: string, streams) => host.attach({ ...nothing, streams }),
    portForward: (_id: string, port: number) => host.portForward({ ...nothing, port }),
    sandboxes: async () => [],
    containers: async () => [],
    usage: async () => [],
  } as Partial<Runtime> as Runtime;
  const container = (name: string) => ({ name, records: [{ id: name, state: 'running' }] });
  const served = {
    pod: { metadata: { name: 'web', namespace: 'default', uid: 'u' }, spec: { containers: [] }, status: {} },
    state: {
      containers: ['a', 'b', 'c'].map(container),
      sandboxes: [{ id: 's', isReady: true, addresses: [ADDRESS] }],
    },
    probes: () => [],
  } as unknown as ServedPod;
  return {
    ...{ name: 'n1', addresses: [], runtime, counters: undefined },
    find: (_namespace, name) => (name === 'lost' ? undefined : served),
    pods: () => [served],
    summary: async () => undefined,
    claimStats: async () => [],
    resourceMetrics: async () => undefined,
    ...more,
  };
}

/** The user of the server at endpoints. */
export const SERVER_USER = 'kube-apiserver-kubelet-client';

export interface RemoteNode extends HostNode {
  /** The agent. */
  readonly agent: Endpoint;
}

export async function remoteNode(): Promise<RemoteNode> {
  const host = hostNode();
  const { ca, leaf } = await nodeAuthority();
  const endpoint = new Endpoint({
    ...{ node: servedNode(host), client: reviewClient([SERVER_USER]), clock: systemClock, log: silent },
    ...{ config: {}, logDirectory: '/nowhere' },
  });
  const port = await endpoint.listen(ADDRESS, ca);
  endpoint.use(await leaf('system:node:n1', 'server', ['n1']), ca);
  const identity = { ca, ...(await leaf(SERVER_USER, 'client')) };
  const connection = httpsConnection({
    addressOf: (node) => (node === 'n1' ? { host: ADDRESS, port } : undefined),
    identity: async () => identity,
    guard: LOOPBACK_GUARD,
    clock: systemClock,
  });
  return {
    ...connection,
    ...{ agent: endpoint, children: host.children, resized: host.resized },
    stop() {
      host.stop();
      void endpoint.close();
    },
  };
}
