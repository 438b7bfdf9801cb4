import { type ApiError, isApiError } from '../../../api/errors.ts';
import { type Client, createClient } from '../../../client/client.ts';
import { httpsTransport } from '../../../client/transport/http/https-transport.ts';
import { Fault } from '../../../kinds/groups/testing/fault.ts';
import { connectionFor } from '../../clusters/choice.ts';
import type { ClusterFlags } from '../../flags/cluster.ts';
import { withReadyServer } from '../../flags/reach/ready-server.ts';
import { CliError } from '../../output/cli-error.ts';
import { table } from '../../output/table.ts';
import type { AddFaultFlags, RemoveFaultFlags } from './flags.ts';

export async function addFault(name: string, flags: AddFaultFlags): Promise<void> {
  const { verbs, resources, namespaces, users, rate, error, latency, dropWatches, staleWatches } = flags;
  const spec = {
    verbs,
    resources,
    namespaces,
    users,
    rate,
    error,
    latencyMilliseconds: latency,
    dropWatchesAfterMilliseconds: dropWatches,
    staleWatchesMilliseconds: staleWatches,
  };
  await withClient(flags, (client) => client.of(Fault).create({ metadata: { name }, spec }));
  print(`added fault ${name}`);
}

export async function listFaults(flags: ClusterFlags): Promise<void> {
  const { items } = await withClient(flags, (client) => client.of(Fault).list());
  const rows = items.map(({ metadata, spec }) => [metadata.name ?? '', JSON.stringify(spec ?? {})]);
  for (const line of table([['NAME', 'WHAT'], ...rows])) print(line);
}

export async function removeFaults(names: readonly string[], flags: RemoveFaultFlags): Promise<void> {
  if (names.length === 0 && !flags.all) throw new CliError('name the faults to remove, or use --all');
  await withClient(flags, async (client) => {
    const faults = client.of(Fault);
    const removed = flags.all ? (await faults.list()).items.map(({ metadata }) => metadata.name ?? '') : names;
    for (const name of removed) {
      await faults.delete(name);
      print(`removed fault ${name}`);
    }
  });
}

async function withClient<T>(flags: ClusterFlags, work: (client: Client) => Promise<T>): Promise<T> {
  const transport = httpsTransport({ ...(await withReadyServer(await connectionFor(flags))), userAgent: 'qd-fault' });
  try {
    return await work(createClient(transport));
  } catch (cause) {
    if (!isUnknownPath(cause)) throw cause;
    throw new CliError('this cluster serves no faults; start one with --faults', { cause });
  } finally {
    transport.close();
  }
}

/** The answer to a path of an API that is not served, unlike that to a missing object. */
const isUnknownPath = (error: unknown) => isApiError(error, 'NotFound') && (error as ApiError).details === undefined;

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
