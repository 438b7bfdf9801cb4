/** Tests the audit log's records of requests. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Call, RequestNotes } from '../../../src/api/call.ts';
import { systemRandom } from '../../../src/base/random.ts';
import { systemClock } from '../../../src/base/time/clock.ts';
import { Audit } from '../../../src/server/access/audit/audit.ts';
import { defaultPolicy, type Policy } from '../../../src/server/access/audit/policy.ts';
import { ALLOW, type Authorizer, NO_OPINION, NO_RULES } from '../../../src/server/access/authz/authorizer.ts';
import { type Answer, type Asked, askHttp1 } from '../http-client.ts';
import { itemOf, objectNamed, type RunningServer, type StartServer, TOKEN } from '../http-server.ts';

export function auditLogContract(startServer: StartServer): void {
  const PODS = '/api/v1/namespaces/default/pods';
  const everything = (level: 'Metadata' | 'Request' | 'RequestResponse'): Policy => ({ rules: [{ level }] });

  let running: RunningServer;
  let lines: string[];

  /** Forbids deletes, and impersonation of users other than bob, or, for some things only, carol. */
  const authorizer: Authorizer = {
    authorize: (asked) => {
      const isBeing = asked.verb === 'impersonate' || asked.verb === 'impersonate:user-info';
      const who = asked.verb === 'impersonate' ? 'bob' : 'carol';
      const isRejected = asked.verb === 'delete' || (isBeing && !('name' in asked && asked.name === who));
      return isRejected ? { ...NO_OPINION, reason: 'not for him' } : { ...ALLOW, reason: 'why not' };
    },
    rulesFor: () => NO_RULES,
  };

  async function start(policy: Policy): Promise<void> {
    lines = [];
    const backend = { dropped: {}, write: (line: string) => void lines.push(line) };
    running = await startServer({
      audit: new Audit({ policy, backends: [backend], clock: systemClock, random: systemRandom }),
      authorizer,
    });
  }

  function send(asked: Omit<Asked, 'port' | 'ca'>): Promise<Answer> {
    const headers = { authorization: `Bearer ${TOKEN}`, ...asked.headers };
    return askHttp1({ ...asked, headers, port: running.port, ca: running.authority.ca });
  }

  const post = (body: object, headers: Record<string, string> = {}) =>
    send({
      path: PODS,
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });

  const events = () => lines.map((line) => JSON.parse(line));
  const stages = () => events().map(({ stage, verb }) => `${verb} ${stage}`);

  afterEach(() => running.server.close());

  describe('at the level of metadata', () => {
    beforeEach(() => start(everything('Metadata')));

    it('a request is recorded when it arrives and when it is answered, with user, verb, source and reason', async () => {
      const answer = await send({
        path: `${PODS}/a?pretty=1`,
        headers: { 'user-agent': 'me', 'x-forwarded-for': '1.2.3.4, x' },
      });
      expect(stages()).toEqual(['get RequestReceived', 'get ResponseComplete']);
      const [received, complete] = events();
      expect(complete).toEqual({
        kind: 'Event',
        apiVersion: 'audit.k8s.io/v1',
        level: 'Metadata',
        auditID: answer.headers['audit-id'],
        stage: 'ResponseComplete',
        requestURI: `${PODS}/a?pretty=1`,
        verb: 'get',
        user: { username: 'alice', uid: '1', groups: ['developers', 'testers', 'system:authenticated'] },
        sourceIPs: ['1.2.3.4', '127.0.0.1'],
        userAgent: 'me',
        objectRef: { resource: 'pods', namespace: 'default', name: 'a', apiVersion: 'v1' },
        responseStatus: { metadata: {}, code: 200 },
        requestReceivedTimestamp: received.stageTimestamp,
        stageTimestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/),
        annotations: { 'authorization.k8s.io/decision': 'allow', 'authorization.k8s.io/reason': 'why not' },
      });
      expect(received).not.toHaveProperty('responseStatus');
    });

    it("records an object's name, not its content", async () => {
      await post({ metadata: { name: 'new' }, data: { password: 'hunter2' } });
      expect(events()[1].objectRef.name).toBe('new');
      expect(lines.join('')).not.toContain('hunter2');
    });

    it('a request keeps the Audit-ID of its client if that is valid', async () => {
      expect((await send({ path: PODS, headers: { 'audit-id': 'mine' } })).headers['audit-id']).toBe('mine');
      const long = await send({ path: PODS, headers: { 'audit-id': 'x'.repeat(65) } });
      expect(long.headers['audit-id']).toMatch(/^[0-9a-f-]{36}$/);
    });

    it('a forbidden request is recorded with its reason', async () => {
      await send({ path: `${PODS}/a`, method: 'DELETE' });
      const { responseStatus, annotations } = events()[1];
      expect(responseStatus).toMatchObject({ status: 'Failure', reason: 'Forbidden', code: 403 });
      expect(annotations).toEqual({
        'authorization.k8s.io/decision': 'forbid',
        'authorization.k8s.io/reason': 'not for him',
      });
    });

    it('an unauthenticated request is recorded without a user, and its token is not', async () => {
      const answer = await send({ path: PODS, headers: { authorization: 'Bearer stolen' } });
      expect(events()[1]).toMatchObject({
        user: {},
        verb: 'list',
        responseStatus: { code: 401 },
        auditID: answer.headers['audit-id'],
      });
      expect(lines.join('')).not.toContain('stolen');
    });

    it('an impersonated request is recorded with both users', async () => {
      await send({ path: PODS, headers: { 'impersonate-user': 'bob' } });
      expect(events()[1]).toMatchObject({ user: { username: 'alice' }, impersonatedUser: { username: 'bob' } });
      expect(events()[1]).not.toHaveProperty('authenticationMetadata');
      lines = [];
      await send({ path: PODS, headers: { 'impersonate-user': 'carol' } });
      expect(events()[1]).toMatchObject({
        impersonatedUser: { username: 'carol' },
        authenticationMetadata: { impersonationConstraint: 'impersonate:user-info' },
      });
      lines = [];
      await send({ path: PODS, headers: { 'impersonate-user': 'eve' } });
      expect(events()[1]).toMatchObject({ user: { username: 'alice' }, responseStatus: { code: 403 } });
    });

    it('a watch is recorded when it starts and when it ends', async () => {
      const watching = send({ path: `${PODS}?watch=true` });
      while (running.core.watches.length === 0) await new Promise((resolve) => setImmediate(resolve));
      const [watch] = running.core.watches;
      await watch!.whenAttached;
      await new Promise((resolve) => setImmediate(resolve));
      expect(stages()).toEqual(['watch RequestReceived', 'watch ResponseStarted']);
      watch!.consumer!.end();
      await watching;
      await watch!.whenStopped;
      expect(stages()).toEqual(['watch RequestReceived', 'watch ResponseStarted', 'watch ResponseComplete']);
    });

    it('an unexpected error is recorded as Panic', async () => {
      running.core.answer = () => {
        throw new TypeError('no');
      };
      await send({ path: `${PODS}/a` });
      expect(stages()).toEqual(['get RequestReceived', 'get Panic']);
      expect(events()[1].responseStatus).toMatchObject({ code: 500, reason: 'InternalError' });
    });

    it('annotations of admission are recorded', async () => {
      running.core.answer = (_: Call, notes?: RequestNotes) => {
        notes?.annotate('pod-security.kubernetes.io/audit-violations', 'would violate');
        return { type: 'object', item: itemOf(objectNamed('a')) };
      };
      await post({ metadata: { name: 'a' } });
      expect(events()[1].annotations['pod-security.kubernetes.io/audit-violations']).toBe('would violate');
    });

    it('non-resource paths are recorded, and so are paths that do not exist', async () => {
      await send({ path: '/version' });
      await send({ path: '/nowhere' });
      expect(events().map(({ requestURI, responseStatus }) => [requestURI, responseStatus?.code])).toEqual([
        ['/version', undefined],
        ['/version', 200],
        ['/nowhere', undefined],
        ['/nowhere', 404],
      ]);
      expect(events()[0]).not.toHaveProperty('objectRef');
    });
  });

  describe('at higher levels', () => {
    it('the request is recorded as it was sent', async () => {
      await start(everything('Request'));
      await post({ metadata: { name: 'a' } });
      expect(events()[1]).toMatchObject({ level: 'Request', requestObject: { metadata: { name: 'a' } } });
      expect(events()[1]).not.toHaveProperty('responseObject');
    });

    it('so is the response, without managed fields if the policy says so', async () => {
      await start({ omitManagedFields: true, rules: [{ level: 'RequestResponse', omitStages: ['RequestReceived'] }] });
      await post({ metadata: { name: 'a', managedFields: [{ manager: 'm' }] } });
      expect(events()).toHaveLength(1);
      expect(events()[0]).toMatchObject({
        requestObject: { metadata: { name: 'a' } },
        responseObject: { metadata: { name: 'a' } },
      });
      expect(lines.join('')).not.toContain('managedFields');
    });

    it('an error is recorded as the response', async () => {
      await start(everything('RequestResponse'));
      await send({ path: `${PODS}/missing` });
      expect(events()[1].responseObject).toMatchObject({ kind: 'Status', reason: 'NotFound' });
    });
  });

  it('without a policy file reads are not recorded and have no Audit-ID', async () => {
    await start(defaultPolicy);
    const answer = await send({ path: `${PODS}/a` });
    expect(answer.headers).not.toHaveProperty('audit-id');
    expect(lines).toEqual([]);
  });
}
