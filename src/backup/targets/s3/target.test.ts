/** Servers that are overloaded, break off, or lie. */
import { createHash } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { describe, expect, it } from 'vitest';
import { type S3Script, scriptedS3 } from '../../../../test/support/backup/scripted-s3.ts';
import { collected, once, pieces } from '../../../../test/support/backup/target-contract.ts';
import { SeededRandom } from '../../../base/random.ts';
import type { Clock } from '../../../base/time/clock.ts';
import { S3Client } from './client.ts';
import { S3Target } from './target.ts';

const NOW = Date.UTC(2030, 0, 10);
const MIB = 1024 * 1024;
const STALL_MS = 60_000;

/** Lets each wait end at once, and records it. Those for connections without progress end only on demand. */
class RecordingClock implements Clock {
  readonly waits: number[] = [];
  readonly stalls = new Set<() => void>();

  now(): number {
    return NOW;
  }

  timer(delay: number, task: () => void) {
    if (delay === STALL_MS) {
      this.stalls.add(task);
      return { cancel: () => void this.stalls.delete(task) };
    }
    this.waits.push(delay);
    const handle = setImmediate(task);
    return { cancel: () => clearImmediate(handle) };
  }
}

async function serving(script: S3Script) {
  const { url, seen } = await scriptedS3(script);
  const clock = new RecordingClock();
  const settings = {
    ...({
      bucket: 'bucket',
      prefix: 'p/',
      endpoint: url,
      region: 'us-east-1',
      style: 'path',
      keysFrom: 'the test',
    } as const),
    keys: async () => ({ accessKeyId: 'id', secretAccessKey: 'secret' }),
  };
  const target = new S3Target(new S3Client(settings, { clock }, new SeededRandom(1)));
  return { target, seen, clock };
}

const xml = (response: ServerResponse, status: number, body: string, headers: Record<string, string> = {}) =>
  response.writeHead(status, { 'content-type': 'application/xml', ...headers }).end(`<?xml version="1.0"?>\n${body}`);
const failing = (response: ServerResponse, status: number, code: string) =>
  xml(response, status, `<Error><Code>${code}</Code><Message>no</Message></Error>`);
const listing = (keys: readonly string[], more = '') =>
  `<ListBucketResult>${more}${keys
    .map(
      (key) =>
        `<Contents><Key>${key}</Key><Size>1</Size><LastModified>2030-01-01T00:00:00.000Z</LastModified></Contents>`,
    )
    .join('')}</ListBucketResult>`;

describe('an overloaded server', () => {
  it.each([
    ['503 SlowDown', (response: ServerResponse) => void failing(response, 503, 'SlowDown')],
    ['500 without a body', (response: ServerResponse) => void response.writeHead(500).end()],
    ['429', (response: ServerResponse) => void response.writeHead(429).end('busy')],
    ['a broken connection', (response: ServerResponse) => void response.destroy()],
    [
      'half an answer',
      (response: ServerResponse) =>
        void response.writeHead(200, { 'content-length': '99' }).write('x', () => response.destroy()),
    ],
  ])('is asked again, later and later: %s', async (_, fail) => {
    const { target, seen, clock } = await serving((_request, response, index) => {
      if (index < 4) fail(response);
      else xml(response, 200, listing(['p/a']));
    });
    expect(await target.list()).toMatchObject([{ name: 'a', bytes: 1, modified: Date.UTC(2030, 0, 1) }]);
    expect(seen).toHaveLength(5);
    const limits = [500, 1000, 2000, 4000];
    expect(clock.waits).toHaveLength(4);
    for (const [index, wait] of clock.waits.entries()) {
      expect(wait).toBeLessThanOrEqual(limits[index]!);
      expect(wait).toBeGreaterThanOrEqual(limits[index]! / 2);
    }
    expect(clock.stalls.size).toBe(0);
  });

  it('is given up after six attempts', async () => {
    const { target, seen } = await serving((_request, response) => void failing(response, 503, 'SlowDown'));
    await expect(target.put('a', once('x'))).rejects.toMatchObject({
      ...{ problem: 'Unavailable', message: expect.stringMatching(/^PUT s3:\/\/bucket\/p\/a: .*503 SlowDown: no/) },
    });
    expect(seen).toHaveLength(6);
  });

  it.each([403, 400, 501])('is not asked again after %i', async (status) => {
    const { target, seen } = await serving((_request, response) => void failing(response, status, 'Whatever'));
    await expect(target.list()).rejects.toMatchObject({ name: 'TargetError' });
    expect(seen).toHaveLength(1);
  });

  it('is given up when it sends nothing, and the caller can stop waiting', async () => {
    const { target, clock, seen } = await serving(() => {});
    const list = target.list();
    list.catch(() => {});
    for (let attempt = 1; attempt <= 6; attempt++) {
      await expect.poll(() => seen.length).toBe(attempt);
      for (const stall of [...clock.stalls]) stall();
    }
    await expect(list).rejects.toThrow(/nothing was received for 60 s/);

    const abort = new AbortController();
    const stopped = target.list(abort.signal);
    stopped.catch(() => {});
    await expect.poll(() => seen.length).toBe(7);
    abort.abort(new Error('stopped'));
    await expect(stopped).rejects.toThrow('stopped');
    await expect.poll(() => clock.stalls.size).toBe(0);
  });
});

describe('a list', () => {
  it('goes on with the token of the server, and leaves out names that are not ours', async () => {
    const { target, seen } = await serving(
      (_request, response, index) =>
        void xml(
          response,
          200,
          index === 0
            ? listing(
                ['p/b', 'p/../x', 'p/', 'other', 'p/a/b', 'p/-x'],
                '<IsTruncated>true</IsTruncated><NextContinuationToken>a+/= b</NextContinuationToken>',
              )
            : listing(['p/a']),
        ),
    );
    expect((await target.list()).map(({ name }) => name)).toEqual(['a', 'b']);
    expect(new URL(seen[1]!.url, 'http://x').searchParams.get('continuation-token')).toBe('a+/= b');
  });

  const endless = '<IsTruncated>true</IsTruncated><NextContinuationToken>same</NextContinuationToken>';
  it.each([
    ['repeats itself', listing(['p/a'], endless), /goes on where it was before/],
    ['is truncated without a token', listing([], '<IsTruncated>true</IsTruncated>'), /does not say where it goes on/],
    ['is no XML', 'oops', /malformed answer/],
    ['is something else', '<html></html>', /expected ListBucketResult, found html/],
    ['is incomplete', listing(['p/a']).slice(0, -30), /malformed answer/],
    ['has an odd size', listing(['p/a']).replace('<Size>1', '<Size>-1'), /the size of a is no number/],
    ['has an odd time', listing(['p/a']).replace('2030-01-01', 'soon'), /LastModified is no time/],
    ['is too long', `<ListBucketResult>${' '.repeat(5 * MIB)}</ListBucketResult>`, /more than 4194304 bytes/],
    [
      'has too many elements',
      `<ListBucketResult>${'<a/>'.repeat(200_000)}</ListBucketResult>`,
      /malformed answer.*elements/,
    ],
  ])('is rejected when it %s', async (_, body, message) => {
    const { target } = await serving((_request, response) => void xml(response, 200, body));
    await expect(target.list()).rejects.toMatchObject({ name: 'TargetError', message: expect.stringMatching(message) });
  });

  it('is not followed to another region or place', async () => {
    const { target } = await serving(
      (_request, response) =>
        void xml(response, 301, '<Error><Code>PermanentRedirect</Code></Error>', {
          ...{ 'x-amz-bucket-region': 'eu-west-1', location: 'http://127.0.0.1:1/' },
        }),
    );
    await expect(target.list()).rejects.toThrow('the bucket is in the region eu-west-1, not us-east-1; set AWS_REGION');
  });

  it('survives a server that switches protocols', async () => {
    const { target } = await serving((_request, response) => {
      response.socket!.write('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n');
    });
    await expect(target.list()).rejects.toThrow(/switched to another protocol/);
  });
});

describe('an upload in parts', () => {
  const content = () => pieces(Buffer.alloc(20 * MIB, 'abc'), MIB);
  /** Answers as S3 does, unless the script handles a request. */
  const uploading = (script: (kind: string, response: ServerResponse) => boolean): S3Script => {
    return (request, response) => {
      const query = new URL(request.url, 'http://x').searchParams;
      const part = query.get('partNumber');
      const kind = part
        ? `part ${part}`
        : query.has('uploads')
          ? 'create'
          : `${request.method} ${query.get('uploadId')}`;
      if (script(kind, response)) return;
      if (kind === 'create')
        xml(response, 200, '<InitiateMultipartUploadResult><UploadId>u1</UploadId></InitiateMultipartUploadResult>');
      else if (part) response.writeHead(200, { etag: `"e${part}<&"` }).end();
      else if (request.method === 'POST') xml(response, 200, '<CompleteMultipartUploadResult/>');
      else response.writeHead(204).end();
    };
  };
  const kinds = (seen: readonly { method: string; url: string }[]) =>
    seen.map(({ method, url }) => `${method} ${new URL(url, 'http://x').search}`);

  it('sends parts of 8 MiB, each with its hash, and completes them', async () => {
    const { target, seen } = await serving(uploading(() => false));
    await target.put('a', content());
    expect(kinds(seen)).toEqual([
      'POST ?uploads=',
      ...['1', '2', '3'].map((part) => `PUT ?partNumber=${part}&uploadId=u1`),
      'POST ?uploadId=u1',
    ]);
    expect(seen.slice(1, 4).map(({ body }) => body.length)).toEqual([8 * MIB, 8 * MIB, 4 * MIB]);
    expect(Buffer.concat(seen.slice(1, 4).map(({ body }) => body)).equals(Buffer.alloc(20 * MIB, 'abc'))).toBe(true);
    expect(String(seen[4]!.body)).toContain('<Part><PartNumber>2</PartNumber><ETag>"e2&lt;&amp;"</ETag></Part>');
    for (const { headers, body } of seen) {
      expect(headers['x-amz-content-sha256']).toBe(createHash('sha256').update(body).digest('hex'));
    }
  });

  it('repeats a part, and the error in a body with status 200', async () => {
    let failures = 0;
    const { target, seen } = await serving(
      uploading((kind, response) => {
        if ((kind !== 'part 2' && kind !== 'POST u1') || failures++ % 2 === 1) return false;
        failing(response, kind === 'part 2' ? 500 : 200, 'InternalError');
        return true;
      }),
    );
    await target.put('a', content());
    expect(kinds(seen).filter((kind) => kind.startsWith('PUT'))).toHaveLength(4);
    expect(kinds(seen).filter((kind) => kind === 'POST ?uploadId=u1')).toHaveLength(2);
  });

  it.each(['part 2', 'POST u1'])('is aborted when %s is rejected', async (wrong) => {
    const { target, seen } = await serving(
      uploading((kind, response) => kind === wrong && Boolean(failing(response, 403, 'AccessDenied'))),
    );
    await expect(target.put('a', content())).rejects.toMatchObject({ problem: 'Denied' });
    expect(kinds(seen).at(-1)).toBe('DELETE ?uploadId=u1');
  });

  it('reports the first error when it cannot be aborted either', async () => {
    const { target } = await serving(
      uploading(
        (kind, response) =>
          (kind === 'part 2' || kind.startsWith('DELETE')) && Boolean(failing(response, 403, 'AccessDenied')),
      ),
    );
    await expect(target.put('a', content())).rejects.toThrow(/^PUT .*AccessDenied/);
  });

  it.each([
    ['is there', 20 * MIB, undefined],
    ['is of another size', MIB, /aborted by someone else/],
  ])('is complete when the answer was lost and the file %s', async (_, bytes, error) => {
    let completions = 0;
    const { target } = await serving(
      uploading((kind, response) => {
        if (kind === 'HEAD null') response.writeHead(200, { 'content-length': String(bytes), etag: '"x-3"' }).end();
        else if (kind !== 'POST u1') return false;
        else if (completions++ === 0) response.destroy();
        else failing(response, 404, 'NoSuchUpload');
        return true;
      }),
    );
    if (error) await expect(target.put('a', content())).rejects.toThrow(error);
    else await target.put('a', content());
  });

  it.each([
    ['an upload without an ID', 'create', '<InitiateMultipartUploadResult/>', /an upload has no ID/],
    ['a part without a tag', 'part 1', '', /part 1 of an upload has no ETag/],
  ])('rejects %s', async (_, wrong, body, message) => {
    const { target } = await serving(
      uploading((kind, response) => kind === wrong && Boolean(xml(response, 200, body))),
    );
    await expect(target.put('a', content())).rejects.toThrow(message);
  });

  it('holds one part in memory, however slow the server is', async () => {
    let produced = 0;
    async function* counted(): AsyncGenerator<Uint8Array> {
      for (; produced < 40; produced++) yield Buffer.alloc(MIB);
    }
    const { target, seen } = await serving(uploading((kind) => kind === 'part 1'));
    const abort = new AbortController();
    const put = target.put('a', counted(), abort.signal);
    put.catch(() => {});
    await expect.poll(() => seen.length).toBe(2);
    expect(produced).toBeLessThanOrEqual(9);
    abort.abort(new Error('stopped'));
    await expect(put).rejects.toThrow('stopped');
  });
});

describe('a download', () => {
  const CONTENT = Buffer.from('0123456789'.repeat(1000));
  /** Sends some bytes of what is asked for, then breaks off. */
  const breaking = (bytes: readonly number[]): S3Script => {
    return ({ headers }, response, index) => {
      const from = Number(/bytes=(\d+)-/.exec(headers.range ?? '')?.[1] ?? 0);
      const head = {
        'content-length': String(CONTENT.length - from),
        'content-range': `bytes ${from}-9999/10000`,
        etag: '"v1"',
      };
      response.writeHead(headers.range ? 206 : 200, head);
      const limit = bytes[index];
      if (limit === undefined) response.end(CONTENT.subarray(from));
      else response.write(CONTENT.subarray(from, from + limit), () => setImmediate(() => response.destroy()));
    };
  };

  it('goes on where the connection broke, in the same version of the file', async () => {
    const { target, seen } = await serving(breaking([4000, 3000]));
    expect(CONTENT.equals(await collected(target.get('a')))).toBe(true);
    expect(seen.map(({ headers }) => [headers.range, headers['if-match']])).toEqual([
      [undefined, undefined],
      ['bytes=4000-', '"v1"'],
      ['bytes=7000-', '"v1"'],
    ]);
  });

  it('fails when the connection breaks again and again', async () => {
    const { target, seen } = await serving(breaking(Array.from({ length: 20 }, (_, index) => (index === 0 ? 100 : 0))));
    await expect(collected(target.get('a'))).rejects.toThrow(/the connection broke 5 times/);
    expect(seen.length).toBeLessThanOrEqual(7);
  });

  it('fails when the file is replaced meanwhile', async () => {
    const script = breaking([4000]);
    const { target } = await serving((request, response, index) => {
      if (index === 0) script(request, response, index);
      else failing(response, 412, 'PreconditionFailed');
    });
    await expect(collected(target.get('a'))).rejects.toThrow(/was replaced while it was read/);
  });

  it.each([
    ['ignores the range', 200, { 'content-length': '10000' }, /not sent from byte 5 on/],
    [
      'sends another range',
      206,
      { 'content-length': '9995', 'content-range': 'bytes 0-9994/10000' },
      /not sent from byte 5 on/,
    ],
    ['has no length', 206, { 'content-range': 'bytes 5-9999/10000' }, /no usable Content-Length/],
  ])('is rejected when the server %s', async (_, status, headers, message) => {
    const { target } = await serving((_request, response) => void response.writeHead(status, headers).end(CONTENT));
    await expect(collected(target.get('a', { from: 5 }))).rejects.toThrow(message);
  });
});

describe('unfinished uploads', () => {
  it('are removed when they are a day old', async () => {
    const upload = (key: string, id: string, hoursAgo: number) =>
      `<Upload><Key>${key}</Key><UploadId>${id}</UploadId><Initiated>${new Date(NOW - hoursAgo * 3_600_000).toISOString()}</Initiated></Upload>`;
    const uploads = [
      upload('p/a', 'old', 25),
      upload('p/a', 'new', 23),
      upload('other', 'theirs', 99),
      upload('p/x/y', 'below', 99),
    ];
    const { target, seen } = await serving((request, response) => {
      if (request.method === 'GET')
        xml(response, 200, `<ListMultipartUploadsResult>${uploads.join('')}</ListMultipartUploadsResult>`);
      else response.writeHead(204).end();
    });
    await target.tidy();
    expect(seen.slice(1).map(({ method, url }) => `${method} ${url}`)).toEqual(['DELETE /bucket/p/a?uploadId=old']);
    await target.tidy({ isAlone: true });
    expect(seen.slice(3).map(({ url }) => url)).toEqual(['/bucket/p/a?uploadId=old', '/bucket/p/a?uploadId=new']);
  });
});
