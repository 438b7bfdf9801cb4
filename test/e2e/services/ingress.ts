/** The Ingress controller in front of the shop: routing, certificates, upgrades and streams. */
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { connect as connectHttp2 } from 'node:http2';
import { text } from 'node:stream/consumers';
import { connect, type TLSSocket } from 'node:tls';
import { beforeAll, describe, expect, test } from 'vitest';
import { testAuthority } from '../../support/tls.ts';
import type { Qd } from '../program.ts';
import { ask } from './ask.ts';

interface Site {
  qd(): Qd;
  ports(): { readonly http: number; readonly https: number };
}

const INGRESSES = '/apis/networking.k8s.io/v1/namespaces/shop/ingresses';

/** Server that reports the requested path, sends a stream in two parts, and echoes data after an upgrade. */
const ECHO = `
const server = require('http').createServer((request, response) => {
  if (request.url === '/echo/stream') {
    response.write('first');
    request.on('data', (chunk) => response.end(chunk));
  } else response.end(process.env.NAME + ' ' + request.url);
});
server.on('upgrade', (_, socket) => {
  socket.write('HTTP/1.1 101 Switching Protocols\\r\\nConnection: Upgrade\\r\\nUpgrade: websocket\\r\\n\\r\\n');
  socket.pipe(socket);
});
server.listen(8080);
`;

export function ingressTests({ qd, ports }: Site): void {
  describe('its Ingress', () => {
    const over = (host: string, path: string) => ask({ port: ports().http, path, headers: { host } });

    beforeAll(async () => {
      const post = async (path: string, body: object) => {
        const { code, text: answer } = await qd().request('POST', path, { body });
        expect(code, answer).toBe(200);
      };
      const service = (name: string) =>
        post('/api/v1/namespaces/shop/services', {
          metadata: { name },
          spec: { selector: { app: name }, ports: [{ name: 'http', port: 80, targetPort: 8080 }] },
        });
      const backend = (name: string) => ({ service: { name, port: { name: 'http' } } });
      const path = (prefix: string, name: string, pathType = 'Prefix') => ({
        path: prefix,
        pathType,
        backend: backend(name),
      });
      const authority = await testAuthority();
      for (const host of ['one.test', 'two.test']) {
        const { cert, key } = await authority.client(host);
        await post('/api/v1/namespaces/shop/secrets', {
          ...{ metadata: { name: host }, type: 'kubernetes.io/tls' },
          stringData: { 'tls.crt': cert, 'tls.key': key },
        });
      }
      await Promise.all(['echo', 'other', 'nobody'].map(service));
      for (const name of ['echo', 'other']) {
        const container = { name: 'c', image: 'shop:1', command: ['node', '-e', ECHO] };
        await post('/api/v1/namespaces/shop/pods', {
          metadata: { name, labels: { app: name } },
          spec: {
            terminationGracePeriodSeconds: 0,
            containers: [
              {
                ...{ ...container, env: [{ name: 'NAME', value: name }] },
                readinessProbe: { httpGet: { path: '/', port: 8080 }, periodSeconds: 1 },
              },
            ],
          },
        });
      }
      await post(INGRESSES, {
        metadata: { name: 'echo' },
        spec: {
          tls: ['one.test', 'two.test'].map((host) => ({ hosts: [host], secretName: host })),
          defaultBackend: backend('other'),
          rules: [
            {
              host: 'one.test',
              http: {
                paths: [path('/echo', 'echo'), path('/echo/exact', 'other', 'Exact'), path('/nobody', 'nobody')],
              },
            },
            { host: '*.wild.test', http: { paths: [path('/', 'echo')] } },
          ],
        },
      });
      for (const name of ['echo', 'other']) {
        await qd().until(
          '/apis/discovery.k8s.io/v1/namespaces/shop/endpointslices',
          ({ metadata, endpoints }) =>
            metadata.labels['kubernetes.io/service-name'] === name &&
            endpoints?.some(({ conditions }: any) => conditions.ready),
        );
      }
      // Its status is written after its rules are followed.
      await qd().until(INGRESSES, ({ metadata, status }) => metadata.name === 'echo' && status.loadBalancer?.ingress);
    }, 60_000);

    test.each([
      ['one.test', '/echo', 'echo /echo'],
      ['ONE.test:80', '/echo/a?b=c', 'echo /echo/a?b=c'],
      ['one.test', '/echo/exact', 'other /echo/exact'],
      ['one.test', '/echo/exact/not', 'echo /echo/exact/not'],
      ['one.test', '/echoes', 'other /echoes'],
      ['a.wild.test', '/x', 'echo /x'],
      ['a.b.wild.test', '/x', 'other /x'],
      ['unknown.test', '/x', 'other /x'],
    ])('%s %s is answered by %s', async (host, path, expected) => {
      expect(await over(host, path)).toMatchObject({ status: 200, text: expected });
    });

    test('a backend without endpoints is 503', async () => {
      expect(await over('one.test', '/nobody')).toMatchObject({
        status: 503,
        text: expect.stringContaining('no ready endpoints'),
      });
    });

    test.each(['one.test', 'two.test'])(
      'HTTPS has the certificate of %s, and HTTP/2 for clients that have it',
      async (host) => {
        const options = { host: '127.0.0.1', port: ports().https, servername: host, rejectUnauthorized: false };
        const socket = connect({ ...options, ALPNProtocols: ['h2'] });
        await once(socket, 'secureConnect');
        expect((socket as TLSSocket).getPeerCertificate().subject.CN).toBe(host);
        expect(socket.alpnProtocol).toBe('h2');
        const session = connectHttp2(`https://${host}`, { createConnection: () => socket });
        const call = session.request({ ':path': '/echo' });
        const [headers] = await once(call, 'response');
        expect(headers[':status']).toBe(200);
        expect(await text(call)).toBe(host === 'one.test' ? 'echo /echo' : 'other /echo');
        session.close();
      },
    );

    test('a WebSocket is passed through', async () => {
      const headers = { host: 'one.test', connection: 'Upgrade', upgrade: 'websocket' };
      const call = request({ host: '127.0.0.1', port: ports().http, path: '/echo', headers });
      call.end();
      const [response, socket] = await once(call, 'upgrade');
      expect(response.statusCode).toBe(101);
      socket.write('ping');
      expect(String((await once(socket, 'data'))[0])).toBe('ping');
      socket.destroy();
    });

    test('bodies are streamed both ways', async () => {
      const call = request({
        ...{ host: '127.0.0.1', port: ports().http, path: '/echo/stream', method: 'POST' },
        headers: { host: 'one.test' },
      });
      call.flushHeaders();
      const [response] = (await once(call, 'response')) as [IncomingMessage];
      expect(String((await once(response, 'data'))[0])).toBe('first');
      call.end('second');
      expect(await text(response)).toBe('second');
    });
  });
}
