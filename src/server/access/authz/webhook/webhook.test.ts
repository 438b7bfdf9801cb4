import { once } from 'node:events';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type TestAuthority, testAuthority } from '../../../../../test/support/tls.ts';
import { silent } from '../../../../base/log.ts';
import { ControlledClock } from '../../../../base/time/clock.ts';
import { createPostReview } from './post.ts';
import { type PostReview, type ReviewStatus, Webhook } from './webhook.ts';

const user = { name: 'ann', uid: '7', groups: ['dev'], extra: { scope: ['a'] } };
const asked = {
  ...{ user, verb: 'list', group: 'apps', version: 'v1', resource: 'deployments', subresource: '' },
  ...{ namespace: 'default', name: '' },
};

describe('a webhook', () => {
  let clock: ControlledClock;
  let post: ReturnType<typeof vi.fn<PostReview>>;
  let webhook: Webhook;
  beforeEach(() => {
    clock = new ControlledClock();
    post = vi.fn(async () => ({ allowed: true }));
    webhook = new Webhook({ post, clock, log: silent });
  });

  it('receives a SubjectAccessReview', async () => {
    await webhook.authorize({ ...asked, labelSelector: [{ key: 'a', operator: 'Exists' }] });
    expect(post.mock.calls[0]?.[0]).toEqual({
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'SubjectAccessReview',
      metadata: {},
      spec: {
        user: 'ann',
        uid: '7',
        groups: ['dev'],
        extra: { scope: ['a'] },
        resourceAttributes: {
          ...{ namespace: 'default', verb: 'list', group: 'apps', version: 'v1', resource: 'deployments' },
          labelSelector: { requirements: [{ key: 'a', operator: 'Exists' }] },
        },
      },
    });
    await webhook.authorize({ user, verb: 'get', path: '/metrics' });
    expect(post.mock.calls[1]?.[0]).toMatchObject({
      spec: { nonResourceAttributes: { path: '/metrics', verb: 'get' } },
    });
  });

  it.each<[ReviewStatus, object]>([
    [
      { allowed: true, reason: 'r' },
      { verdict: 'allow', reason: 'r' },
    ],
    [
      { allowed: false, denied: true },
      { verdict: 'deny', reason: '' },
    ],
    [
      { allowed: false, reason: 'r' },
      { verdict: 'noOpinion', reason: 'r' },
    ],
    [{}, { verdict: 'noOpinion', reason: '' }],
    [
      { allowed: true, denied: true },
      { verdict: 'deny', error: expect.stringContaining('both allow and deny') },
    ],
  ])('that answers %j means %j', async (status, decision) => {
    post.mockResolvedValue(status);
    expect(await webhook.authorize(asked)).toMatchObject(decision);
  });

  it('is called again when its answer has expired, a denial sooner than an allow', async () => {
    await webhook.authorize(asked);
    expect(webhook.authorize(asked)).toMatchObject({ verdict: 'allow' });
    await clock.advance(299_000);
    expect(webhook.authorize(asked)).toMatchObject({ verdict: 'allow' });
    await clock.advance(2_000);
    post.mockResolvedValue({ allowed: false });
    expect(await webhook.authorize(asked)).toMatchObject({ verdict: 'noOpinion' });
    expect(post).toHaveBeenCalledTimes(2);
    await clock.advance(31_000);
    await webhook.authorize(asked);
    expect(post).toHaveBeenCalledTimes(3);
  });

  it('is called once for concurrent equal requests', async () => {
    await Promise.all([webhook.authorize(asked), webhook.authorize(asked)]);
    expect(post).toHaveBeenCalledTimes(1);
  });

  it('has no opinion when it does not answer, and is called again for the next request', async () => {
    post.mockImplementation(
      (_, signal) => new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
    );
    const decision = webhook.authorize(asked);
    await clock.advance(60_000);
    expect(await decision).toEqual({ verdict: 'noOpinion', reason: '', error: 'no answer in 10000 ms' });
    expect(post).toHaveBeenCalledTimes(4);
    post.mockResolvedValue({ allowed: true });
    expect(await webhook.authorize(asked)).toMatchObject({ verdict: 'allow' });
  });
});

describe('a review', () => {
  let authority: TestAuthority;
  let server: Server;
  let answer: { code: number; body: string };
  const seen: { authorization: string | undefined; body: any }[] = [];

  beforeEach(async () => {
    authority = await testAuthority();
    server = createServer(await authority.server(), (request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const body = JSON.parse(Buffer.concat(chunks).toString());
        seen.push({ authorization: request.headers.authorization, body });
        response.writeHead(answer.code, { 'content-type': 'application/json' }).end(answer.body);
      });
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
  });
  afterEach(() => {
    server.closeAllConnections();
    server.close();
  });

  const send = (ca: string) => {
    const { port } = server.address() as AddressInfo;
    const post = createPostReview({ server: `https://127.0.0.1:${port}/authorize`, ca, token: 't' });
    return post({ kind: 'SubjectAccessReview' }, new AbortController().signal);
  };

  it('is posted over TLS with credentials', async () => {
    answer = { code: 200, body: '{"status":{"allowed":true}}' };
    expect(await send(authority.ca)).toEqual({ allowed: true });
    expect(seen.at(-1)).toEqual({ authorization: 'Bearer t', body: { kind: 'SubjectAccessReview' } });
  });

  it.each([
    [500, '{}', 'answered 500'],
    [200, '{}', 'has no status'],
    [200, 'no', 'JSON'],
  ])('fails when it is answered with %i %s', async (code, body, message) => {
    answer = { code, body };
    await expect(send(authority.ca)).rejects.toThrow(message);
  });

  it('fails when the server switches protocols', async () => {
    server.removeAllListeners('request').on('request', ({ socket }) => {
      socket.write('HTTP/1.1 101 S\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n');
    });
    await expect(send(authority.ca)).rejects.toThrow('the server switched to another protocol');
  });

  it('is not sent to a server with an untrusted certificate', async () => {
    await expect(send((await testAuthority('other')).ca)).rejects.toThrow();
  });

  it('is sent over TLS only', () => {
    expect(() => createPostReview({ server: 'http://127.0.0.1/' })).toThrow('not an https URL');
  });
});
