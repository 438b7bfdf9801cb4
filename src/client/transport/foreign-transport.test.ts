import { expect, it } from 'vitest';
import { ApiError } from '../../api/errors.ts';
import { silent } from '../../base/log.ts';
import { SeededRandom } from '../../base/random.ts';
import { ControlledClock } from '../../base/time/clock.ts';
import { ConfigMap } from '../../kinds/groups/core/configuration/config-map.ts';
import { createClient } from '../client.ts';
import { InformerFactory } from '../informer/informer-factory.ts';
import { errorOfStatus } from '../status-error.ts';
import { foreignTransport } from './foreign-transport.ts';
import type { Answer, RawEvent, Transport } from './transport.ts';

const FOREIGN = { peer: 'east:6443', maxListBytes: 1_000 };

function answering(call: () => Promise<Answer>): Transport {
  return foreignTransport({ call, watch: () => Promise.reject(new Error('not watched')) }, FOREIGN);
}

it('rejects a list without an end', async () => {
  let pages = 0;
  const metadata = { resourceVersion: '1', continue: 'more' };
  const transport = answering(async () => {
    pages++;
    return { type: 'list', metadata, items: [], bytes: 100 };
  });
  await expect(createClient(transport).of(ConfigMap).listAll()).rejects.toMatchObject({
    ...{ reason: 'RequestEntityTooLarge', message: 'the list of configmaps is larger than 1000 bytes' },
  });
  expect(pages).toBe(11);
});

it('shortens long messages, and keeps their reason', async () => {
  const transport = answering(() => Promise.reject(new ApiError('Forbidden', 'a'.repeat(5_000))));
  await expect(createClient(transport).of(ConfigMap).list()).rejects.toMatchObject({
    ...{ reason: 'Forbidden', message: `${'a'.repeat(2_000)} ...` },
  });
});

const SUCCESS = { type: 'status', status: { kind: 'Status', status: 'Success' } } as unknown as Answer;
const FAILURE = {
  type: 'status',
  status: { kind: 'Status', status: 'Failure', reason: 'Forbidden', message: 'no' },
} as unknown as Answer;

it('rejects a Status in place of an object or a list', async () => {
  const request = { apiVersion: 'v1', plural: 'configmaps', name: 'a' };
  for (const verb of ['get', 'list', 'create', 'update', 'patch'] as const) {
    await expect(answering(async () => SUCCESS).call({ ...request, verb })).rejects.toMatchObject({
      ...{ reason: 'InternalError', message: 'east:6443 sent a Status in the place of configmaps' },
    });
  }
  expect(await answering(async () => SUCCESS).call({ ...request, verb: 'delete' })).toEqual(SUCCESS);
  const eviction = { ...request, verb: 'create', subresource: 'eviction' } as const;
  expect(await answering(async () => SUCCESS).call(eviction)).toEqual(SUCCESS);
});

it('treats a failure as an error, even with a success code', async () => {
  for (const verb of ['get', 'list', 'create', 'delete'] as const) {
    const request = { apiVersion: 'v1', plural: 'configmaps', name: 'a', verb };
    await expect(answering(async () => FAILURE).call(request)).rejects.toMatchObject({
      ...{ reason: 'Forbidden', message: 'no' },
    });
  }
});

const BROKEN_STATUSES: readonly unknown[] = [
  ...[null, 5, 'x', [], {}],
  ...[{ message: {} }, { reason: {}, code: 'x' }, { details: 'x' }, { details: { causes: 'x' } }],
  ...[{ details: { causes: [null] } }, { details: { causes: {} } }, { metadata: 5, details: [] }],
  { reason: 'Expired', message: 'a'.repeat(1_000_000) },
];

it.each(BROKEN_STATUSES.map((status) => [JSON.stringify(status).slice(0, 50), status]))(
  'an informer goes on after the failure %s, and logs little',
  async (_, status) => {
    const clock = new ControlledClock();
    const stop = new AbortController();
    let lists = 0;
    let watches = 0;
    let logged = '';
    const log = {
      ...silent,
      info: (...all: unknown[]) => (logged += JSON.stringify(all)),
      warn: (...all: unknown[]) => (logged += JSON.stringify(all)),
    };
    const events = [{ type: 'ERROR', object: status } as RawEvent];
    const transport = foreignTransport(
      {
        call: async () => {
          if (lists++ % 2 === 0) return { type: 'status', status: Object(status) } as Answer;
          return { type: 'list', metadata: { resourceVersion: '1' }, items: [] };
        },
        watch: async () => {
          if (watches++ % 2 === 0) throw errorOfStatus(status);
          return {
            [Symbol.asyncIterator]: async function* () {
              yield events;
            },
            close: () => {},
          };
        },
      },
      FOREIGN,
    );
    const informers = new InformerFactory({
      ...{
        client: createClient(transport),
        clock,
        random: new SeededRandom(1),
        log: { ...log, with: () => log } as never,
        signal: stop.signal,
      },
    });
    informers.of(ConfigMap);
    for (let i = 0; i < 100 && watches < 4; i++) await clock.advance(10_000);
    expect(watches).toBeGreaterThan(3);
    expect(logged.length).toBeLessThan(50_000);
    stop.abort();
    await informers.stopped();
  },
);
