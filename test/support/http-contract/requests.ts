/** Requests and responses: methods, media types, queries, errors, credentials. */
import { X509Certificate } from 'node:crypto';
import { connect } from 'node:tls';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ApiError, notFound } from '../../../src/api/errors.ts';
import type { KubeObject } from '../../../src/kinds/kind.ts';
import { type Answer, type Asked, askHttp1, askHttp2 } from '../http-client.ts';
import { itemOf, listOf, objectNamed, type RunningServer, type StartServer, TOKEN } from '../http-server.ts';

export function requestsContract(startServer: StartServer): void {
  let running: RunningServer;

  beforeAll(async () => {
    running = await startServer();
  });

  afterAll(() => running.server.close());

  beforeEach(() => {
    running.core.answer = undefined;
  });

  const PODS = '/api/v1/namespaces/default/pods';

  describe.each([
    ['HTTP/1.1', askHttp1],
    ['HTTP/2', askHttp2],
  ])('over %s', (_, ask) => {
    const send = (asked: Omit<Asked, 'port' | 'ca'>): Promise<Answer> =>
      ask({
        port: running.port,
        ca: running.authority.ca,
        ...asked,
        headers: { authorization: `Bearer ${TOKEN}`, ...asked.headers },
      });

    it('reads an object', async () => {
      const answer = await send({ path: `${PODS}/a` });
      expect(answer.code).toBe(200);
      expect(answer.json()).toEqual(objectNamed('a'));
      expect(answer.headers).toMatchObject({
        'content-type': 'application/json',
        'content-length': String(answer.body.length),
        'cache-control': 'no-cache, private',
      });
      expect(running.core.lastCall).toMatchObject({
        verb: 'get',
        apiVersion: 'v1',
        plural: 'pods',
        namespace: 'default',
        name: 'a',
        user: { name: 'alice', uid: '1', groups: ['developers', 'testers', 'system:authenticated'] },
      });
    });

    it('answers HEAD like GET, without the body', async () => {
      const answer = await send({ path: `${PODS}/a`, method: 'HEAD' });
      expect(answer.code).toBe(200);
      expect(answer.headers['content-length']).toBe(String(JSON.stringify(objectNamed('a')).length));
      expect(answer.text).toBe('');
    });

    it('passes the body of a create on and answers with 200', async () => {
      const answer = await send({ path: PODS, method: 'POST', body: JSON.stringify(objectNamed('b')) });
      expect(answer.code).toBe(200);
      expect(answer.json()).toEqual(objectNamed('b'));
      expect(running.core.lastCall).toMatchObject({ verb: 'create', body: objectNamed('b') });
      expect(running.core.lastCall.name).toBeUndefined();
    });

    it('accepts YAML', async () => {
      const headers = { 'content-type': 'application/yaml; charset=utf-8' };
      const answer = await send({
        path: PODS,
        method: 'POST',
        headers,
        body: 'kind: Pod\nmetadata: {name: from-yaml}\n',
      });
      expect(answer.code).toBe(200);
      expect(running.core.lastCall.body).toEqual({ kind: 'Pod', metadata: { name: 'from-yaml' } });
    });

    it('answers with YAML if the client prefers it', async () => {
      const answer = await send({ path: `${PODS}/a`, headers: { accept: 'application/yaml' } });
      expect(answer.headers['content-type']).toBe('application/yaml');
      expect(answer.text).toBe('apiVersion: v1\nkind: Pod\nmetadata:\n  name: a\n');
    });

    it('passes a patch on with its type', async () => {
      const headers = { 'content-type': 'application/merge-patch+json' };
      await send({ path: `${PODS}/a`, method: 'PATCH', headers, body: '{"metadata":{"labels":{"a":"b"}}}' });
      expect(running.core.lastCall).toMatchObject({
        verb: 'patch',
        patchType: 'merge',
        name: 'a',
        body: { metadata: { labels: { a: 'b' } } },
      });
    });

    it.each(['merge', 'strategic-merge'])('rejects a %s patch with too many fields', async (type) => {
      const data = Object.fromEntries(Array.from({ length: 60_001 }, (_, i) => [`key-${i}`, '']));
      const headers = { 'content-type': `application/${type}-patch+json` };
      const before = running.core.calls.length;
      const answer = await send({ path: `${PODS}/a`, method: 'PATCH', headers, body: JSON.stringify({ data }) });
      expect(answer.code).toBe(413);
      expect(answer.json().message).toContain('The allowed maximum fields in a merge patch is 60000');
      expect(running.core.calls).toHaveLength(before);
    });

    it('rejects patches of other types with the accepted ones', async () => {
      const headers = { 'content-type': 'application/apply-patch+cbor' };
      const answer = await send({ path: `${PODS}/a`, method: 'PATCH', headers, body: 'a: b' });
      expect(answer.code).toBe(415);
      expect(answer.json()).toMatchObject({
        reason: 'UnsupportedMediaType',
        message:
          'the body of the request was in an unknown format - accepted media types include: ' +
          'application/json-patch+json, application/merge-patch+json, application/strategic-merge-patch+json, ' +
          'application/apply-patch+yaml',
      });
    });

    it.each([
      ['text/html', '<p>'],
      ['text/yaml', 'a: b'],
    ])('rejects a body of type %s', async (type, body) => {
      const answer = await send({ path: PODS, method: 'POST', headers: { 'content-type': type }, body });
      expect(answer.code).toBe(415);
      expect(answer.json().message).toBe(
        'the body of the request was in an unknown format - accepted media types include: ' +
          'application/json, application/yaml, application/vnd.kubernetes.protobuf',
      );
    });

    it.each(['/apis/apiregistration.k8s.io/v1/apiservices', '/apis/apps/v1/unknowns', '/api/v1/unknowns'])(
      'answers 404 at %s, which is of a kind that is not served',
      async (path) => {
        expect((await send({ path })).code).toBe(404);
        expect((await send({ path, method: 'POST', body: '{}' })).code).toBe(404);
      },
    );

    it('rejects a compressed body', async () => {
      const headers = { 'content-encoding': 'gzip' };
      expect((await send({ path: PODS, method: 'POST', headers, body: 'x' })).code).toBe(415);
    });

    it('reports an empty body', async () => {
      const answer = await send({ path: PODS, method: 'POST', body: '' });
      expect(answer.code).toBe(400);
      expect(answer.json()).toEqual({
        kind: 'Status',
        apiVersion: 'v1',
        metadata: {},
        status: 'Failure',
        message:
          "the object provided is unrecognized (must be of type Pod): couldn't get version/kind; " +
          'json parse error: unexpected end of JSON input (<empty>)',
        reason: 'BadRequest',
        code: 400,
      });
    });

    it('rejects a body that is too large, with or without Content-Length', async () => {
      const body = Buffer.alloc(3 * 1024 * 1024 + 1, ' ');
      const answer = await send({ path: PODS, method: 'POST', body });
      expect(answer.code).toBe(413);
      expect(answer.json()).toMatchObject({
        reason: 'RequestEntityTooLarge',
        message: 'Request entity too large: limit is 3145728',
      });
      const headers: Record<string, string> = ask === askHttp1 ? { 'transfer-encoding': 'chunked' } : {};
      expect((await send({ path: PODS, method: 'POST', headers, body })).code).toBe(413);
    });

    it('reads options of a delete from the query', async () => {
      await send({ path: `${PODS}/a?gracePeriodSeconds=0&propagationPolicy=Orphan`, method: 'DELETE' });
      expect(running.core.lastCall).toMatchObject({
        verb: 'delete',
        options: { gracePeriodSeconds: 0, propagationPolicy: 'Orphan' },
      });
      expect(running.core.lastCall.body).toBeUndefined();
    });

    it.each([`${PODS}/a`, PODS])(
      'hands on the options of a delete of %s from its query and from its body',
      async (path) => {
        const query = 'propagationPolicy=Orphan&gracePeriodSeconds=0&dryRun=All';
        await send({ path: `${path}?${query}`, method: 'DELETE', body: '{"orphanDependents":true}' });
        expect(running.core.lastCall).toMatchObject({
          body: { orphanDependents: true },
          options: { propagationPolicy: 'Orphan', gracePeriodSeconds: 0, dryRun: ['All'] },
        });
      },
    );

    it('answers errors with a Status', async () => {
      const answer = await send({ path: `${PODS}/missing` });
      expect(answer.code).toBe(404);
      expect(answer.headers['content-type']).toBe('application/json');
      expect(answer.json()).toEqual({
        kind: 'Status',
        apiVersion: 'v1',
        metadata: {},
        status: 'Failure',
        message: 'pods "missing" not found',
        reason: 'NotFound',
        details: { name: 'missing', kind: 'pods' },
        code: 404,
      });
    });

    it('sends Retry-After', async () => {
      running.core.answer = () => {
        throw new ApiError('TooManyRequests', 'later', { details: { retryAfterSeconds: 7 } });
      };
      expect((await send({ path: PODS })).headers['retry-after']).toBe('7');
      running.core.answer = () => {
        throw new ApiError('ServiceUnavailable', 'later');
      };
      expect((await send({ path: PODS })).headers['retry-after']).toBe('1');
      running.core.answer = () => {
        throw new ApiError('ServiceUnavailable', 'it was waited for', { details: { retryAfterSeconds: 0 } });
      };
      expect((await send({ path: PODS })).headers['retry-after']).toBeUndefined();
      running.core.answer = () => {
        throw new ApiError('TooManyRequests', 'the budget denies it');
      };
      expect((await send({ path: PODS })).headers['retry-after']).toBeUndefined();
    });

    it('hides the message of an unexpected error', async () => {
      running.core.answer = () => {
        throw new Error('secret detail');
      };
      const answer = await send({ path: PODS });
      expect(answer.code).toBe(500);
      expect(answer.json().reason).toBe('InternalError');
      expect(answer.text).not.toContain('secret');
    });

    it('sends warnings, also with an error', async () => {
      running.core.answer = (call, notes) => {
        for (const text of ['use "v1" instead\n', 'two']) notes?.warn(text);
        if (call.name === 'gone') throw notFound({ group: '', plural: 'pods' }, 'gone');
        return { type: 'object', item: itemOf(objectNamed('a')) };
      };
      const answers = [await send({ path: `${PODS}/a` }), await send({ path: `${PODS}/gone` })];
      expect(answers.map(({ code }) => code)).toEqual([200, 404]);
      for (const answer of answers) expect(answer.headers.warning).toBe('299 - "use \\"v1\\" instead ", 299 - "two"');
    });

    it('truncates warnings if there are too many', async () => {
      const warnings = Array.from({ length: 100 }, (_, i) => `${i} ${'x'.repeat(1000)}`);
      running.core.answer = (_, notes) => {
        for (const text of warnings) notes?.warn(text);
        return { type: 'object', item: itemOf(objectNamed('a')) };
      };
      const { warning } = (await send({ path: `${PODS}/a` })).headers;
      const told = String(warning).split(', ');
      expect(told).toHaveLength(16);
      expect(told[15]).toBe(`299 - "15 ${'x'.repeat(253)}"`);
    });

    it.each([
      ['application/json', '{"spec":{"a":1,"a":2},"spec":{}}'],
      ['application/yaml', 'spec: {a: 1, a: 2}\nspec: {}\n'],
    ])('finds what stands twice in %s, unless it is not asked to', async (type, body) => {
      const asked = { method: 'POST', path: PODS, headers: { 'content-type': type }, body };
      await send(asked);
      expect(running.core.lastCall.duplicates).toEqual(['spec.a', 'spec']);
      await send({ ...asked, path: `${PODS}?fieldValidation=Ignore&validate=true` });
      expect(running.core.lastCall.duplicates).toBeUndefined();
      expect(running.core.lastCall.options).toEqual({ fieldValidation: 'Ignore' });
      const merge = { 'content-type': 'application/merge-patch+json' };
      await send({ method: 'PATCH', path: `${PODS}/a`, headers: merge, body: '{"a":1,"a":2}' });
      expect(running.core.lastCall.duplicates).toEqual(['a']);
    });

    it.each([
      ['curl/8.0', '', true],
      ['curl/8.0', '?pretty=false', false],
      ['kubectl/v1.36', '', false],
      ['kubectl/v1.36', '?pretty=true', true],
      ['Mozilla/5.0 (X11)', '', true],
    ])('indents for %s with "%s": %s', async (agent, search, pretty) => {
      const answer = await send({ path: `${PODS}${search}`, headers: { 'user-agent': agent } });
      expect(answer.text.includes('\n  "kind"')).toBe(pretty);
      expect(answer.json().items).toHaveLength(2);
    });

    it('compresses large responses if the client accepts it', async () => {
      const large = { ...objectNamed('large'), data: 'x'.repeat(200_000) } as KubeObject;
      running.core.answer = (call) => (call.verb === 'get' ? { type: 'object', item: itemOf(large) } : listOf([large]));
      for (const path of [`${PODS}/large`, PODS, `${PODS}?pretty=true`]) {
        const answer = await send({ path, headers: { 'accept-encoding': 'br, gzip' } });
        expect(answer.headers).toMatchObject({ 'content-encoding': 'gzip', vary: 'Accept-Encoding' });
        expect(answer.body.length).toBeLessThan(5000);
        expect(gunzipSync(answer.body).toString()).toContain('xxxx');
        const plain = await send({ path });
        expect(plain.headers['content-encoding']).toBeUndefined();
        expect(plain.text).toContain('xxxx');
      }
    });

    it('answers 406 if the client accepts nothing on offer', async () => {
      const answer = await send({ path: `${PODS}/a`, headers: { accept: 'text/html' } });
      expect(answer.code).toBe(406);
      expect(answer.json()).toMatchObject({
        reason: 'NotAcceptable',
        message:
          'only the following media types are accepted: ' +
          'application/json, application/yaml, application/vnd.kubernetes.protobuf',
      });
    });

    it.each([
      ['POST', `${PODS}/a`],
      ['PATCH', PODS],
      ['PUT', PODS],
      ['POST', '/api/v1/pods'],
      ['DELETE', '/api/v1/pods'],
      ['OPTIONS', PODS],
      ['DELETE', '/api/v1/namespaces'],
      ['GET', '/api/v1/namespaces/default/bindings'],
      ['DELETE', `${PODS}/a/status`],
      ['POST', '/api/v1'],
    ])('answers %s %s with 405', async (method, path) => {
      const answer = await send({ method, path });
      expect(answer.code).toBe(405);
      expect(answer.json()).toEqual({
        kind: 'Status',
        apiVersion: 'v1',
        metadata: {},
        status: 'Failure',
        message: 'the server does not allow this method on the requested resource',
        reason: 'MethodNotAllowed',
        details: {},
        code: 405,
      });
    });

    it.each([
      '/api/v1/nonsense',
      '/api/v1/namespaces/default/nodes',
      '/api/v1/pods/a',
      `${PODS}/a/nonsense`,
      `${PODS}/a/status/more`,
      '/api/v2',
      '/apis/apps/v9/deployments',
      '/apis/apps/v9',
      '/apis/apps/v1/namespaces/default/deployments/a/rollback',
    ])('answers %s with a Status of 404', async (path) => {
      const answer = await send({ path });
      expect(answer.code).toBe(404);
      expect(answer.json()).toMatchObject({
        message: 'the server could not find the requested resource',
        reason: 'NotFound',
        details: {},
      });
    });

    it.each(['/apis/nope/v1', '/apis/nope', '/nope', '/apis/nope/v1/things/x', '/healthz/deeper'])(
      'answers %s with a page not found',
      async (path) => {
        const answer = await send({ path });
        expect(answer.code).toBe(404);
        expect(answer.headers['content-type']).toBe('text/plain; charset=utf-8');
        expect(answer.text).toBe('404 page not found\n');
      },
    );

    it('answers 401 without credentials and with wrong ones', async () => {
      for (const authorization of ['', 'Bearer wrong', 'Bearer', 'Basic YTpi', 'nonsense']) {
        const answer = await send({ path: PODS, headers: { authorization } });
        expect(answer.code).toBe(401);
        expect(answer.json()).toEqual({
          kind: 'Status',
          apiVersion: 'v1',
          metadata: {},
          status: 'Failure',
          message: 'Unauthorized',
          reason: 'Unauthorized',
          code: 401,
        });
      }
    });

    it('authenticates users by their client certificates', async () => {
      const certificate = await running.authority.client('admin', 'system:masters');
      await send({ path: PODS, headers: { authorization: '' }, ...certificate });
      const id = new X509Certificate(certificate.cert).fingerprint256.replaceAll(':', '').toLowerCase();
      expect(running.core.lastCall.user).toEqual({
        ...{ name: 'admin', groups: ['system:masters', 'system:authenticated'] },
        extra: { 'authentication.kubernetes.io/credential-id': [`X509SHA256=${id}`] },
      });
    });

    it('rejects certificates of another authority', async () => {
      const { testAuthority } = await import('../tls.ts');
      const certificate = await (await testAuthority('other')).client('admin', 'system:masters');
      expect((await send({ path: PODS, headers: { authorization: '' }, ...certificate })).code).toBe(401);
      expect((await send({ path: PODS, ...certificate })).code).toBe(200);
    });

    it('serves health and version without credentials, but not with wrong ones', async () => {
      for (const path of ['/healthz', '/livez', '/readyz']) {
        expect(await send({ path, headers: { authorization: '' } })).toMatchObject({ code: 200, text: 'ok' });
      }
      expect((await send({ path: '/version', headers: { authorization: '' } })).code).toBe(200);
      for (const path of ['/healthz', '/version']) {
        expect((await send({ path, headers: { authorization: 'Bearer wrong' } })).code).toBe(401);
      }
      for (const path of ['/metrics', '/readyz/ping']) {
        expect((await send({ path, headers: { authorization: '' } })).code).toBe(401);
      }
      expect(await send({ path: '/readyz/ping' })).toMatchObject({ code: 200, text: 'ok' });
      expect((await send({ path: '/version' })).json().gitVersion).toBe('v1.36.4+quarterdeck');
    });

    it('counts its responses', async () => {
      await send({ path: `${PODS}/missing` });
      const { text, headers } = await send({ path: '/metrics' });
      expect(headers['content-type']).toBe('text/plain; version=0.0.4; charset=utf-8');
      expect(text).toMatch(/^apiserver_request_total\{code="404",.*resource="pods".*verb="GET".*\} [1-9]/m);
      expect(text).toContain('\napiserver_current_inflight_requests{request_kind="readOnly"} 0\n');
    });

    it('serves discovery, also to clients that prefer newer forms', async () => {
      const accept =
        'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,' +
        'application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json';
      const answer = await send({ path: '/apis', headers: { accept } });
      expect(answer.headers['content-type']).toBe(
        'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList',
      );
      expect(answer.json().items.map((item: any) => item.metadata.name)).toEqual(['apps', 'extensions']);
      const older = accept.slice(accept.indexOf(',') + 1);
      expect((await send({ path: '/api', headers: { accept: older } })).json()).toMatchObject({
        apiVersion: 'apidiscovery.k8s.io/v2beta1',
        items: [{ versions: [{ version: 'v1' }] }],
      });
      const plain = await send({ path: '/apis' });
      expect(plain.json().groups.map((group: { name: string }) => group.name)).toEqual(['apps', 'extensions']);
      for (const [etag, wanted] of [
        [plain.headers.etag, undefined],
        [answer.headers.etag, accept],
      ]) {
        const headers = { 'if-none-match': String(etag), ...(wanted ? { accept: String(wanted) } : {}) };
        expect(await send({ path: '/apis', headers })).toMatchObject({ code: 304, text: '' });
      }
      expect(answer.headers.etag).not.toBe(plain.headers.etag);
      expect((await send({ path: '/api/' })).json()).toEqual({
        kind: 'APIVersions',
        versions: ['v1'],
        serverAddressByClientCIDRs: [{ clientCIDR: '0.0.0.0/0', serverAddress: `127.0.0.1:${running.port}` }],
      });
      expect((await send({ path: '/' })).json().paths).toContain('/apis/apps/v1');
    });

    it('rejects URLs that are too long and invalid escapes', async () => {
      const long = await send({ path: `${PODS}?labelSelector=${'x'.repeat(33_000)}` });
      expect(long.code).toBe(414);
      expect(long.json()).toMatchObject({ kind: 'Status', reason: 'RequestURITooLong', code: 414 });
      for (const path of [`${PODS}/%zz`, `${PODS}/%`, `${PODS}/%ff`, `${PODS}?labelSelector=%zz`, `${PODS}/a%00b`]) {
        expect((await send({ path })).code).toBe(400);
      }
    });
  });

  it('knows the client certificate of a resumed TLS session', async () => {
    const { port, authority, core } = running;
    const certificate = await authority.client('admin', 'system:masters');
    const ask = (session?: Buffer) =>
      new Promise<{ session: Buffer; resumed: boolean }>((resolve, reject) => {
        const options = { port, host: '127.0.0.1', ca: authority.ca, ...certificate, ...(session ? { session } : {}) };
        const socket = connect({ ...options, maxVersion: 'TLSv1.2' });
        socket.on('error', reject);
        socket.write(`GET ${PODS} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);
        socket.resume().on('end', () => resolve({ session: socket.getSession()!, resumed: socket.isSessionReused() }));
      });
    const first = await ask();
    const second = await ask(first.session);
    expect([first.resumed, second.resumed]).toEqual([false, true]);
    expect(core.calls.slice(-2).map(({ user }) => user.name)).toEqual(['admin', 'admin']);
  });

  it('is not ready before the core is', async () => {
    let ready = false;
    const { server, port, authority } = await startServer({ isReady: () => ready });
    const ask = (path: string) => askHttp1({ port, ca: authority.ca, path });
    expect(await ask('/readyz')).toMatchObject({
      code: 500,
      text: '[+]ping ok\n[-]poststarthook/start-controllers failed: reason withheld\n[+]shutdown ok\nreadyz check failed\n',
    });
    expect((await ask('/livez')).code).toBe(200);
    ready = true;
    expect((await ask('/readyz')).code).toBe(200);
    await server.close();
  });

  it('trusts everyone on the insecure port', async () => {
    const { server, core } = await startServer();
    const { port } = await server.listenInsecure(0, '127.0.0.1');
    const answer = await fetch(`http://127.0.0.1:${port}${PODS}/a`);
    expect(await answer.json()).toEqual(objectNamed('a'));
    expect(core.lastCall.user).toEqual({
      name: 'system:unsecured',
      groups: ['system:masters', 'system:authenticated'],
    });
    const calls = core.calls.length;
    const foreign = await fetch(`http://127.0.0.1:${port}${PODS}`, { headers: { origin: 'https://evil.example' } });
    expect(foreign.status).toBe(403);
    expect(core.calls).toHaveLength(calls);
    await server.close();
  });

  it('reports that a port is in use', async () => {
    const { server, port } = await startServer();
    await expect(server.listen(port, '127.0.0.1')).rejects.toThrow('EADDRINUSE');
    await server.close();
  });
}
