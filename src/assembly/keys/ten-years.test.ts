/** Moves the time by ten years, a day at a time, in a cluster that is never restarted: everything trusts everything. */
import { X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { startKeyServer } from '../../../test/support/certificates/key-server.ts';
import { distrust } from '../../../test/support/certificates/trust.ts';
import { temporaryDirectory } from '../../../test/support/temporary-directory.ts';
import { systemRandom } from '../../base/random.ts';
import { ControlledClock } from '../../base/time/clock.ts';
import { outcomeOf, signingAuthority } from '../../controllers/identity/certificates/signing.ts';
import { newKey } from '../../protocols/x509/certificate.ts';
import { newRequest } from '../../protocols/x509/request.ts';
import { MemoryStore } from '../../store/memory/memory-store.ts';
import { blocksOf, CROSS, firstBlock, type Pki } from './pki.ts';

const DAY_MS = 24 * 3_600_000;
const DAYS = 3653;
/** For how long a client goes on with what it has read of the cluster, such as a kubeconfig. */
const UNREAD_DAYS = 60;

let directory: string;
let clock: ControlledClock;
let store: MemoryStore;
beforeEach(async () => {
  directory = temporaryDirectory();
  clock = new ControlledClock();
  store = new MemoryStore({ clock });
});
afterEach(async () => {
  await store.close();
});

/** A certificate as an agent gets it: for a year, and used for up to 90 per cent of it. */
async function issued(server: () => Pki): Promise<{ certificate: string; renewAt: number }> {
  const { privateKey } = await newKey();
  const { certificate, key } = server().signing;
  const sign = signingAuthority({ certificate, key, maxLifetime: 365 * DAY_MS, clock, random: systemRandom });
  const subject = { commonName: 'system:node:n1', organization: 'system:nodes' };
  const request = Buffer.from(newRequest({ subject, names: undefined }, privateKey)).toString('base64');
  const usages = ['digital signature', 'client auth'];
  const spec = { request, signerName: 'kubernetes.io/kube-apiserver-client-kubelet', usages };
  const outcome = await outcomeOf({ spec } as never, sign);
  if ('failure' in outcome) throw new Error(outcome.failure);
  const pem = outcome.certificate;
  const { validFrom, validTo } = new X509Certificate(pem);
  const [from, to] = [Date.parse(validFrom), Date.parse(validTo)];
  return { certificate: pem, renewAt: from + 0.9 * (to - from) };
}

it.each([
  ['one server', false, 1],
  // They share what is the same each day.
  ['two servers on one store', true, 5],
])(
  'certificates of %s are trusted for ten years without a restart',
  { timeout: 300_000 },
  async (_name, isShared, step) => {
    const names = isShared ? ['a', 'b'] : ['a'];
    const servers = await Promise.all(
      names.map((name) => startKeyServer({ directory: join(directory, name), store, clock, isShared })),
    );
    const [first] = servers as [(typeof servers)[number]];
    const authorities = new Set([firstBlock(first.pki().authority)]);
    const tokenKeys = new Set([first.pki().serviceAccountKey]);
    let earlier = first.pki();
    let node = await issued(first.pki);
    const problems: string[] = [];
    for (let day = step; day <= DAYS; day += step) {
      await clock.advance(step * DAY_MS);
      const now = clock.now();
      for (const server of servers) await server.settled();
      if (now >= node.renewAt) node = await issued(first.pki);
      authorities.add(firstBlock(first.pki().authority));
      tokenKeys.add(first.pki().serviceAccountKey);
      const readers = [earlier, ...servers.map(({ pki }) => pki())];
      for (const server of servers) {
        const { serving, authority, frontProxy } = server.pki();
        for (const reader of readers) {
          problems.push(
            ...[
              distrust(serving.certificate, reader.authority, now),
              distrust(reader.admin.certificate, authority, now),
            ].filter((each) => each !== undefined),
          );
        }
        // Aggregated API servers follow the authorities in the API.
        for (const { pki } of servers) {
          const unknown = distrust(frontProxy.certificate, pki().frontProxy.authority, now);
          if (unknown) problems.push(unknown);
        }
        const wrong = distrust(node.certificate, authority, now);
        if (wrong) problems.push(wrong);
        // It is made anew each day.
        if (day % 20 > 0) continue;
        const agentClient = await server.agentClient();
        problems.push(
          ...[
            distrust(node.certificate, agentClient.ca, now),
            distrust(agentClient.cert, earlier.authority, now),
          ].filter((each) => each !== undefined),
        );
      }
      if (problems.length > 0) throw new Error(`day ${day}: ${problems.join('; ')}`);
      if (day % UNREAD_DAYS === 0) earlier = first.pki();
    }
    // The authority of the first day has expired, and is not trusted any more.
    expect(authorities.size).toBe(2);
    expect(blocksOf(first.pki().authority)).toHaveLength(1);
    expect(blocksOf(first.pki().frontProxy.authority)).toHaveLength(1);
    expect(await readFile(join(directory, 'a', 'pki', CROSS)).catch((error) => error.code)).toBe('ENOENT');
    // A token key has no end: those of pods are accepted as long as they say.
    expect(tokenKeys.size).toBe(1);
    for (const server of servers) expect(server.failures).toEqual([]);
    await Promise.all(servers.map((server) => server.stop()));
  },
);
