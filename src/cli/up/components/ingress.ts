/** Runs the built-in Ingress controller beside nodes with real pods. */
import { createClient } from '../../../client/client.ts';
import { INGRESS_CONTROLLER } from '../../../client/component-users.ts';
import { directTransport } from '../../../client/transport/direct-transport.ts';
import type { MovedPort } from '../../../network/ingress/controller.ts';
import type { RemoteIngressProxy } from '../../../network/ingress/thread.ts';
import type { Server } from '../../../server/index.ts';
import { CliError } from '../../output/cli-error.ts';
import type { Say } from '../../output/steps.ts';
import type { StartContext } from '../context.ts';
import type { Settings } from '../flags.ts';
import { reachableAddress } from '../listeners/addresses.ts';
import type { OpenPort } from '../listeners/open-ports.ts';
import { hasRealPods } from './plan-nodes.ts';

const DEFAULT_PORTS = { http: 80, https: 443 } as const;

/** The proxy, while its thread loads and before it has any rules. */
export type OpeningIngress = Promise<OpenIngress>;

interface OpenIngress {
  readonly proxy: RemoteIngressProxy;
  /** Where it listens, for people to read. */
  readonly urls: readonly string[];
  readonly movedPorts: readonly MovedPort[];
}

/** Starts to listen, while the rest of the program starts. Undefined when no pods are really run, and when it is switched off. */
export function openIngress(context: StartContext): OpeningIngress | undefined {
  const { settings, inputs, cleanup } = context;
  if (settings.ingress === false || !hasRealPods(inputs.nodes)) return undefined;
  const opened = open(context);
  // A failure is reported when it is waited for.
  opened.catch(() => {});
  cleanup.add(() =>
    opened.then(
      ({ proxy }) => proxy.close(),
      () => {},
    ),
  );
  return opened;
}

async function open({ settings, clock, random, log, openPorts }: StartContext): Promise<OpenIngress> {
  const { openIngressProxy } = await import('./ingress-thread.ts');
  const proxy = await openIngressProxy({ clock, random, log }, settings);
  try {
    return { proxy, ...(await listen(proxy, settings, openPorts)) };
  } catch (error) {
    await proxy.close();
    throw error;
  }
}

async function listen(
  proxy: RemoteIngressProxy,
  settings: Settings,
  openPorts: OpenPort[],
): Promise<Omit<OpenIngress, 'proxy'>> {
  const { bindAddress: address } = settings;
  const urls: string[] = [];
  const movedPorts: MovedPort[] = [];
  for (const protocol of ['http', 'https'] as const) {
    const given = protocol === 'http' ? settings.ingressHttpPort : settings.ingressHttpsPort;
    const wanted = given ?? DEFAULT_PORTS[protocol];
    const port = await proxy.listen(protocol, address, wanted).catch((error: NodeJS.ErrnoException) => {
      if (given !== undefined) {
        throw new CliError(`--ingress-${protocol}-port: ${address}:${given} cannot be used: ${error.message}`);
      }
      // The usual port is taken by something else, or needs root.
      return proxy.listen(protocol, address, 0);
    });
    if (given === undefined && port !== DEFAULT_PORTS[protocol]) {
      movedPorts.push({ usual: DEFAULT_PORTS[protocol], used: port });
    }
    urls.push(`${protocol}://${address}:${port}`);
    openPorts.push({ address, port, what: `Ingress, ${protocol.toUpperCase()}` });
  }
  return { urls, movedPorts };
}

/** Resolves when it listens. Rules of Ingresses are followed a moment later. */
export async function startIngress(
  { settings, cleanup, clock, random, log }: StartContext,
  { opening, server }: { readonly opening: OpeningIngress; readonly server: Server },
  say: Say,
): Promise<void> {
  const { IngressController } = await import('../../../network/ingress/controller.ts');
  const { proxy, urls, movedPorts } = await opening;
  const address = reachableAddress(settings.bindAddress, settings.serviceClusterIpRange);
  const client = createClient(directTransport(server.direct(INGRESS_CONTROLLER)));
  const controller = new IngressController({
    ...{ client, clock, random, log, address, movedPorts },
    policy: {
      sharesHosts: settings.ingressShareHosts === true,
      allowsExternalNames: settings.ingressAllowExternalNames === true,
    },
    use: async (config) => proxy.use(config),
  });
  cleanup.add(() => controller.stop());
  controller.start().catch((error) => log.error('the Ingress controller does not follow the API', { error }));
  say(urls.join(', '));
}
