import { isApiError } from '../../../api/errors.ts';
import { createClient } from '../../../client/client.ts';
import type { Resource } from '../../../client/resource.ts';
import { httpsTransport } from '../../../client/transport/http/https-transport.ts';
import { CLUSTER_CLOCK, Clock } from '../../../kinds/groups/testing/clock.ts';
import { connectionFor } from '../../clusters/choice.ts';
import type { ClusterFlags } from '../../flags/cluster.ts';
import { withReadyServer } from '../../flags/reach/ready-server.ts';
import { CliError } from '../../output/cli-error.ts';

/** Resolves when the cluster has reached the new time. */
export async function advance(milliseconds: number, flags: ClusterFlags): Promise<void> {
  const transport = httpsTransport({ ...(await withReadyServer(await connectionFor(flags))), userAgent: 'qd-clock' });
  try {
    const clocks = createClient(transport).of(Clock);
    const before = await clocks.get(CLUSTER_CLOCK).catch((cause: unknown) => {
      if (!isApiError(cause, 'NotFound')) throw cause;
      throw new CliError('the clock of this cluster cannot be moved; start one with --clock manual', { cause });
    });
    const target = Math.max(timeOf(before.spec?.time), timeOf(before.status?.time)) + milliseconds;
    const changes = { spec: { time: new Date(target).toISOString().replace('Z', '000Z') } };
    await clocks.patch(CLUSTER_CLOCK, { type: 'merge', changes });
    await reached(clocks, target);
    process.stdout.write(`${new Date(target).toISOString()}\n`);
  } finally {
    transport.close();
  }
}

/** Watches end while the time moves: they last half an hour of it. Each begins with the present state. */
async function reached(clocks: Resource<Clock>, target: number): Promise<void> {
  for (;;) {
    for await (const { type, object } of await clocks.watch()) {
      if (type !== 'BOOKMARK' && timeOf(object.status?.time) >= target) return;
    }
  }
}

const timeOf = (time: string | undefined) => (time ? Date.parse(time) : 0);
