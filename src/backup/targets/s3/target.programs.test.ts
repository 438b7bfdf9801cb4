/** A bucket of OpenStack Swift, which checks signatures, rights and the clock. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { collected, describeTarget, once, pieces } from '../../../../test/support/backup/target-contract.ts';
import {
  missingS3,
  S3_DOMAIN,
  S3_KEYS,
  S3_KEYS_WITHOUT_RIGHTS,
  TestS3,
} from '../../../../test/support/backup/test-s3.ts';
import { temporaryDirectory } from '../../../../test/support/temporary-directory.ts';
import { testAuthority } from '../../../../test/support/tls.ts';
import { systemRandom } from '../../../base/random.ts';
import { type Clock, systemClock } from '../../../base/time/clock.ts';
import { S3Client } from './client.ts';
import { readSettings } from './settings.ts';
import { S3Target } from './target.ts';

interface Options {
  readonly variables?: Readonly<Record<string, string>>;
  readonly clock?: Clock;
  readonly home?: string;
}

let buckets = 0;

async function clientFor(location: string, { variables = S3_KEYS, clock = systemClock, home = '/none' }: Options = {}) {
  const settings = await readSettings(location, { variables, home });
  const lookup = (_host: string, options: { all?: boolean }, callback: (...args: never[]) => void) => {
    const found = options.all ? [[{ address: '127.0.0.1', family: 4 }]] : ['127.0.0.1', 4];
    callback(...([null, ...found] as never[]));
  };
  return new S3Client(settings, { clock, ca: settings.ca, lookup }, systemRandom);
}

describe.skipIf(missingS3)('with a server', () => {
  let server: TestS3;
  beforeAll(async () => {
    server = await TestS3.start();
  });
  afterAll(async () => {
    await server?.stop();
  });

  const at = (bucket: string, style = 'path') => `s3://${bucket}/${style}s/of-a?endpoint=${server.endpoint}&style=path`;
  async function newBucket(): Promise<string> {
    const bucket = `bucket-${++buckets}`;
    const client = await clientFor(`s3://${bucket}?endpoint=${server.endpoint}`);
    await client.call({ method: 'PUT' });
    return bucket;
  }
  async function opened(location: string) {
    const client = await clientFor(location);
    return {
      target: new S3Target(client),
      leftovers: async () => {
        const { text } = await client.call({ method: 'GET', query: { uploads: '' } });
        return text.match(/<Upload>/g)?.length ?? 0;
      },
      abandon: async (name: string) => {
        const { text } = await client.call({ method: 'POST', name, query: { uploads: '' } });
        const uploadId = /<UploadId>(.*)<\/UploadId>/.exec(text)![1]!;
        await client.call({ method: 'PUT', name, query: { uploadId, partNumber: '1' }, body: [Buffer.from('half')] });
      },
    };
  }

  describeTarget('a bucket', async () => opened(at(await newBucket())));

  it('finds the bucket in the host name', async () => {
    const bucket = await newBucket();
    const virtual = `s3://${bucket}/prefix?endpoint=http://${S3_DOMAIN}:${server.port}&style=virtual`;
    const { target } = await opened(virtual);
    await target.put('a', pieces(Buffer.alloc(9_000_000), 1_000_000));
    await target.put('b', once('content'));
    expect((await target.list()).map(({ name, bytes }) => [name, bytes])).toEqual([
      ['a', 9_000_000],
      ['b', 7],
    ]);
    expect(String(await collected(target.get('b', { from: 3 })))).toBe('tent');
  });

  it('lists page after page, and only what lies directly below the prefix', async () => {
    const bucket = await newBucket();
    const outer = await clientFor(`s3://${bucket}?endpoint=${server.endpoint}`);
    const target = new S3Target(await clientFor(`s3://${bucket}/p?endpoint=${server.endpoint}`), 10);
    for (const key of ['other', 'p', 'pq/file', 'p/deep/file']) {
      const url = `s3://${bucket}/${key.includes('/') ? key.slice(0, key.lastIndexOf('/')) : ''}?endpoint=${server.endpoint}`;
      await new S3Target(await clientFor(url)).put(key.slice(key.lastIndexOf('/') + 1), once('x'));
    }
    const names = Array.from({ length: 31 }, (_, index) => `file-${String(index).padStart(2, '0')}`);
    await Promise.all(names.map((name) => target.put(name, once(''))));
    expect((await target.list()).map(({ name }) => name)).toEqual(names);
    expect((await new S3Target(outer).list()).map(({ name }) => name)).toEqual(['other', 'p']);
  });

  it('names a bucket that is missing', async () => {
    const { target } = await opened(at('missing'));
    await expect(target.list()).rejects.toMatchObject({ name: 'TargetError', problem: 'Invalid' });
    await expect(target.put('a', once('x'))).rejects.toThrow(
      /has no bucket missing; create it, or correct --backup-to/,
    );
    await expect(collected(target.get('a'))).rejects.toThrow(/has no bucket missing/);
  });

  it.each([
    ['an unknown key', { AWS_ACCESS_KEY_ID: 'nobody', AWS_SECRET_ACCESS_KEY: 'x' }, /the keys from AWS_ACCESS_KEY_ID/],
    ['a wrong secret', { ...S3_KEYS, AWS_SECRET_ACCESS_KEY: 'x' }, /are not accepted; .*SignatureDoesNotMatch/],
    ['no rights', S3_KEYS_WITHOUT_RIGHTS, /do not give the right to it; .*403 AccessDenied/],
  ])('explains %s', async (_, variables, message) => {
    const target = new S3Target(await clientFor(at(await newBucket()), { variables }));
    await expect(target.list()).rejects.toMatchObject({ problem: 'Denied', message: expect.stringMatching(message) });
    await expect(target.put('a', once('x'))).rejects.toMatchObject({ problem: 'Denied' });
  });

  it('tells how wrong the clock is', async () => {
    const clock = { ...systemClock, now: () => Date.now() + 47 * 60_000 };
    const target = new S3Target(await clientFor(at(await newBucket()), { clock }));
    await expect(target.list()).rejects.toThrow(
      /clock of this machine is 47 minutes ahead of that of the server.*set the clock/,
    );
  });

  it('takes the keys of a profile', async () => {
    const file = join(temporaryDirectory(), 'credentials');
    writeFileSync(
      file,
      '[default]\naws_access_key_id = x\n\n[ours]\naws_access_key_id = test:tester\naws_secret_access_key=testing\n',
    );
    const variables = { AWS_SHARED_CREDENTIALS_FILE: file, AWS_PROFILE: 'ours' };
    const target = new S3Target(await clientFor(at(await newBucket()), { variables }));
    await target.put('a', once('x'));
    expect(await target.list()).toHaveLength(1);
  });
});

describe.skipIf(missingS3)('with a server that has a certificate', () => {
  it('trusts the authority that the settings name, and no other', async () => {
    const authority = await testAuthority();
    const server = await TestS3.start(await authority.server('127.0.0.1'));
    try {
      const ca = join(temporaryDirectory(), 'ca.pem');
      writeFileSync(ca, authority.ca);
      const location = `s3://secure/backups?endpoint=${server.endpoint}`;
      await (await clientFor(`s3://secure?endpoint=${server.endpoint}&ca=${ca}`)).call({ method: 'PUT' });
      const target = new S3Target(await clientFor(`${location}&ca=${ca}`));
      await target.put('a', pieces(Buffer.alloc(20_000_000, 'x'), 3_000_000));
      expect((await collected(target.get('a'))).length).toBe(20_000_000);
      const byVariable = new S3Target(await clientFor(location, { variables: { ...S3_KEYS, AWS_CA_BUNDLE: ca } }));
      expect(await byVariable.list()).toHaveLength(1);
      await expect(new S3Target(await clientFor(location)).list()).rejects.toMatchObject({
        ...{ problem: 'Unavailable', message: expect.stringMatching(/no answer from https.*certificate/) },
      });
    } finally {
      await server.stop();
    }
  });
});
