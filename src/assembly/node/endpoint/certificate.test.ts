import { X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { temporaryDirectory } from '../../../../test/support/temporary-directory.ts';
import { silent } from '../../../base/log.ts';
import { systemRandom } from '../../../base/random.ts';
import { ControlledClock } from '../../../base/time/clock.ts';
import type { Client } from '../../../client/client.ts';
import { outcomeOf, signingAuthority } from '../../../controllers/identity/certificates/signing.ts';
import { issue, newIssuer, newKey } from '../../../protocols/x509/certificate.ts';
import { keepCertificate, type NodeCertificate, storedCertificate } from './certificate.ts';

const DAY_MS = 86_400_000;
const LIFETIME_MS = 100 * DAY_MS;

let directory: string;
let clock: ControlledClock;
let stop: AbortController;
let cluster: Awaited<ReturnType<typeof newCluster>>;

beforeEach(async () => {
  directory = temporaryDirectory();
  clock = new ControlledClock(Date.parse('2030-01-01T00:00:00Z'));
  stop = new AbortController();
  cluster = await newCluster();
});

afterEach(async () => {
  stop.abort();
});

/** Signs every request at once, as long as it answers. */
async function newCluster() {
  const { privateKey, publicKey } = await newKey();
  const subject = { commonName: 'ca' };
  const validity = { notBefore: clock.now() - DAY_MS, notAfter: clock.now() + 3650 * DAY_MS };
  const authority = issue(
    { subject, publicKey, usage: 'authority', ...validity },
    newIssuer(subject, privateKey),
    systemRandom,
  );
  const sign = signingAuthority({
    ...{ certificate: authority, key: privateKey, maxLifetime: LIFETIME_MS, clock, random: systemRandom },
  });
  const requests: any[] = [];
  const state = { isDown: false, authority, requests };
  const client = {
    of: () => ({
      async create({ spec }: any) {
        if (state.isDown) throw new Error('the server does not answer');
        requests.push(spec);
      },
      async get() {
        const outcome = await outcomeOf({ spec: requests.at(-1) } as never, sign);
        if ('failure' in outcome) return { status: { conditions: [{ type: 'Failed', message: outcome.failure }] } };
        return { status: { certificate: Buffer.from(outcome.certificate).toString('base64') } };
      },
    }),
  } as unknown as Client;
  return Object.assign(state, { client });
}

/** Keeps a certificate. `next` resolves with the next one that is used, `failed` with the next failure. */
function keep(purpose: 'client' | 'serving', first?: NodeCertificate) {
  const used = queue<NodeCertificate>();
  const failures = queue<unknown>();
  void keepCertificate({
    ...{ client: cluster.client, purpose, node: 'n1', directory, clock, random: systemRandom, first },
    log: { ...silent, warn: (_message, fields) => failures.push(fields?.error) },
    signal: stop.signal,
    use: (certificate) => used.push(certificate),
  });
  return { next: () => used.next(), failed: () => failures.next(), isIdle: () => used.isEmpty() };
}

function queue<T>() {
  const items: T[] = [];
  let wake: (() => void) | undefined;
  return {
    push(item: T) {
      items.push(item);
      wake?.();
    },
    isEmpty: () => items.length === 0,
    async next(): Promise<T> {
      while (items.length === 0) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
      return items.shift()!;
    },
  };
}

it.each(['client', 'serving'] as const)('a %s certificate is requested, kept, and renewed in time', async (purpose) => {
  const { next, isIdle } = keep(purpose);
  const first = await next();
  const parsed = new X509Certificate(first.cert);
  expect(parsed.subject).toBe('O=system:nodes\nCN=system:node:n1');
  expect(parsed.subjectAltName).toBe(purpose === 'serving' ? 'DNS:n1' : undefined);
  const stored = { purpose, directory, authority: cluster.authority };
  expect(await storedCertificate(stored, clock.now())).toEqual(first);
  await clock.advance(0.69 * LIFETIME_MS);
  expect(isIdle()).toBe(true);
  await clock.advance(0.22 * LIFETIME_MS);
  const second = await next();
  expect(Date.parse(new X509Certificate(second.cert).validTo)).toBeGreaterThan(Date.parse(parsed.validTo));
  expect(await storedCertificate(stored, clock.now())).toEqual(second);
  expect(cluster.requests).toHaveLength(2);
});

it('the old one is used until the server answers again', async () => {
  const { next, failed } = keep('client');
  await next();
  cluster.isDown = true;
  await clock.advance(0.91 * LIFETIME_MS);
  expect(await failed()).toBe('Error: the server does not answer');
  await clock.advance(5_000);
  await failed();
  cluster.isDown = false;
  // While keys are made, in real time, further retries may have failed: they are at most this far apart.
  await clock.advance(15 * 60_000);
  await next();
  expect(cluster.requests).toHaveLength(2);
});

it('a stored certificate is used, unless it has expired or another cluster has issued it', async () => {
  const first = await keep('serving').next();
  expect(await keep('serving', first).next()).toBe(first);
  expect(cluster.requests).toHaveLength(1);
  const stored = { purpose: 'serving' as const, directory };
  const { authority } = cluster;
  expect(await storedCertificate({ ...stored, authority }, clock.now() + 2 * LIFETIME_MS)).toBeUndefined();
  expect(
    await storedCertificate({ ...stored, authority: (await newCluster()).authority }, clock.now()),
  ).toBeUndefined();
  expect(await readFile(join(directory, 'pki', 'serving.key'), 'utf8')).toBe(first.key);
});
