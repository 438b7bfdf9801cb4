/** Moves the clock of a cluster to the time that its Clock object asks for, and reports the time that it has reached. */

import { isApiError } from '../../api/errors.ts';
import { advanceClock } from '../../base/time/clock-steps.ts';
import { createClient } from '../../client/client.ts';
import { InformerFactory } from '../../client/informer/informer-factory.ts';
import { directTransport } from '../../client/transport/direct-transport.ts';
import { CLUSTER_CLOCK, Clock } from '../../kinds/groups/testing/clock.ts';
import type { Server } from '../../server/index.ts';
import { SERVER_USER } from '../../server/objects/server-user.ts';
import type { Cleanup } from '../cleanup.ts';
import type { Tools } from '../context.ts';
import type { ManualClock } from './manual-clock.ts';

interface FollowOptions extends Pick<Tools, 'random' | 'log'> {
  readonly manual: ManualClock;
  readonly cleanup: Cleanup;
}

/** Resolves when the Clock object exists. A cluster that is started again goes on at the time that it had reached. */
export async function followClock(
  { manual: { clock, idle }, cleanup, random, log }: FollowOptions,
  server: Pick<Server, 'direct'>,
): Promise<void> {
  const client = createClient(directTransport(server.direct(SERVER_USER)));
  const clocks = client.of(Clock);
  const before = await clocks.get(CLUSTER_CLOCK).catch((error: unknown) => {
    if (isApiError(error, 'NotFound')) return undefined;
    throw error;
  });
  clock.skipTo(timeOf(before?.status?.time));
  if (!before) await clocks.create({ metadata: { name: CLUSTER_CLOCK }, spec: { time: format(clock.now()) } });
  const report = () =>
    clocks.patchStatus(CLUSTER_CLOCK, { type: 'merge', changes: { status: { time: format(clock.now()) } } });
  await report();
  const stop = new AbortController();
  const informers = new InformerFactory({ client, clock, random, log, signal: stop.signal });
  let moving: Promise<void> = Promise.resolve();
  const moveTo = async (target: number) => {
    if (target <= clock.now() || stop.signal.aborted) return;
    await advanceClock(clock, target, idle);
    await report();
  };
  informers.of(Clock).onChange(({ type, object: { metadata, spec } }) => {
    if (type === 'delete' || metadata.name !== CLUSTER_CLOCK) return;
    moving = moving
      .then(() => moveTo(timeOf(spec?.time)))
      .catch((error: unknown) => log.error('the clock could not be moved', { error }));
  });
  cleanup.add(async () => {
    stop.abort();
    await moving;
    await informers.stopped();
  });
}

const timeOf = (time: string | undefined) => (time ? Date.parse(time) : 0);
const format = (time: number) => new Date(time).toISOString().replace('Z', '000Z');
