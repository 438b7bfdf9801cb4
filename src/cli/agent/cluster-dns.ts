/**
 * The addresses of the cluster's DNS for the pods of an agent: those of the Service `kube-dns`, which is followed while the
 * agent runs. They are kept on disk, so that pods have DNS when the agent starts while no server answers.
 */
import { isIP } from 'node:net';
import { join } from 'node:path';
import { readIfThere, writeWhole } from '../../base/files/own/files.ts';
import { type Clock, sleep } from '../../base/time/clock.ts';
import { InformerFactory, type InformerFactoryOptions } from '../../client/informer/informer-factory.ts';
import { Service } from '../../kinds/groups/core/service/service.ts';
import { DNS_SERVICE } from '../../network/dns/feed/dns-service.ts';

const FILE = 'cluster-dns.json';
/** How long a start waits for the server. */
const FIRST_TIMEOUT_MS = 5_000;

interface ClusterDnsOptions extends Omit<InformerFactoryOptions, 'limit'> {
  /** The data directory of the agent. */
  readonly directory: string;
}

export interface ClusterDns {
  addresses(): readonly string[];
  /** Resolves when nothing follows the Service any more, after the signal. */
  stopped(): Promise<void>;
}

/** Resolves when the addresses are known, or the server has not answered for a while. */
export async function followClusterDns(options: ClusterDnsOptions): Promise<ClusterDns> {
  const { clock, log, signal, directory } = options;
  const file = join(directory, FILE);
  let addresses = await readAddresses(file);
  let writing = Promise.resolve();
  const informers = new InformerFactory(options);
  const { name, namespace } = DNS_SERVICE;
  const services = informers.of(Service, { namespace, fieldSelector: `metadata.name=${name}` });
  services.onChange(({ type, object }) => {
    // A Service that was deleted is made again, with the same address.
    if (type === 'delete') return;
    const found = (object.spec.clusterIPs ?? []).filter((each) => isIP(each) > 0);
    if (JSON.stringify(found) === JSON.stringify(addresses)) return;
    addresses = found;
    writing = writing
      .then(() => writeWhole(file, `${JSON.stringify(found)}\n`))
      .catch((error: unknown) => log.warn('the address of cluster DNS was not kept', { error: String(error) }));
  });
  await Promise.race([services.synced, timeout(clock, signal)]);
  if (addresses.length === 0) log.warn('pods get no cluster DNS until the Service kube-dns can be read');
  return {
    addresses: () => addresses,
    async stopped() {
      await informers.stopped();
      await writing;
    },
  };
}

const timeout = (clock: Clock, signal: AbortSignal) => sleep(clock, FIRST_TIMEOUT_MS, signal).catch(() => undefined);

async function readAddresses(file: string): Promise<readonly string[]> {
  try {
    return JSON.parse((await readIfThere(file)) ?? '[]');
  } catch {
    return []; // It is written again.
  }
}
