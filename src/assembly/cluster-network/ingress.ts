/** Runs the built-in Ingress controller beside nodes with real pods. */
import { createClient } from '../../client/client.ts';
import { INGRESS_CONTROLLER } from '../../client/component-users.ts';
import { directTransport } from '../../client/transport/direct-transport.ts';
import type { AttachedDaemon } from '../../network/daemon/attached-daemon.ts';
import type { Claim } from '../../network/daemon/doors.ts';
import type { MovedPort } from '../../network/ingress/moved-port.ts';
import { reachableAddress } from '../addresses.ts';
import { AssemblyError } from '../assembly-error.ts';
import type { DnsOptions } from './dns.ts';
import { listenNear, type Near } from './network.ts';

const DEFAULT_PORTS = { http: 80, https: 443 } as const;

export interface IngressOptions extends DnsOptions {
  /** Ports that were asked for; undefined: the usual one, or one that is free. */
  readonly ports: Readonly<Record<'http' | 'https', number | undefined>>;
  readonly sharesHosts: boolean;
  readonly allowsExternalNames: boolean;
}

interface Listening {
  /** Where it listens, for people to read. */
  readonly urls: readonly string[];
  readonly movedPorts: readonly MovedPort[];
}

async function listen(
  daemon: AttachedDaemon,
  { api: { bindAddress: address }, ports, openPorts }: Pick<IngressOptions, 'api' | 'ports' | 'openPorts'>,
): Promise<Listening> {
  const urls: string[] = [];
  const movedPorts: MovedPort[] = [];
  for (const protocol of ['http', 'https'] as const) {
    const given = ports[protocol];
    const usual = DEFAULT_PORTS[protocol];
    const claim = { kinds: [protocol], address, port: given ?? usual };
    const { port, moved } = given === undefined ? await listenNear(daemon, claim) : await listenOn(daemon, claim);
    if (moved) movedPorts.push({ usual, used: port, why: moved });
    urls.push(`${protocol}://${address}:${port}`);
    openPorts.push({ address, port, what: `Ingress, ${protocol.toUpperCase()}` });
  }
  return { urls, movedPorts };
}

async function listenOn(daemon: AttachedDaemon, claim: Claim): Promise<Near> {
  const { kinds, address, port } = claim;
  try {
    return { port: await daemon.listen(claim), moved: undefined };
  } catch (error) {
    const { message } = error as Error;
    throw new AssemblyError(`--ingress-${kinds[0]}-port: ${address}:${port} cannot be used: ${message}`);
  }
}

/** Resolves when it listens, with the URLs. Rules of Ingresses are followed a moment later. */
export async function startIngress(options: IngressOptions): Promise<readonly string[]> {
  const { api, network, server, sharesHosts, allowsExternalNames, cleanup, log } = options;
  const { IngressController } = await import('../../network/ingress/controller.ts');
  const daemon = await network.daemon;
  const { urls, movedPorts } = await listen(daemon, options);
  const address = reachableAddress(api.bindAddress, api.serviceClusterIpRange);
  const client = createClient(directTransport(server.direct(INGRESS_CONTROLLER)));
  const controller = new IngressController({
    ...options,
    client,
    address,
    movedPorts,
    policy: { sharesHosts, allowsExternalNames },
    use: (config) => daemon.use(config),
  });
  cleanup.add(() => controller.stop());
  const started = controller.start();
  network.awaits(started);
  started.catch((error) => log.error('the Ingress controller does not follow the API', { error }));
  return urls;
}
