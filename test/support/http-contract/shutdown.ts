/** Closing the server, and connections that are idle or broken. */
import { connect } from 'node:http2';
import { Agent, request } from 'node:https';
import { connect as connectTls } from 'node:tls';
import { expect, it } from 'vitest';
import { WebSocket } from 'ws';
import type { Reply } from '../../../src/api/reply.ts';
import { ControlledClock } from '../../../src/base/time/clock.ts';
import { type StartServer, TOKEN } from '../http-server.ts';

export function shutdownContract(startServer: StartServer): void {
  const headers = { authorization: `Bearer ${TOKEN}` };
  const PODS = '/api/v1/namespaces/default/pods';

  it('closes at once when only idle connections are open', async () => {
    const { server, port, authority } = await startServer();
    const agent = new Agent({ keepAlive: true, ca: authority.ca });
    const session = connect(`https://127.0.0.1:${port}`, { ca: authority.ca });
    const connected = new Promise((resolve) => session.once('remoteSettings', resolve));
    await new Promise<void>((resolve) => {
      request({ host: '127.0.0.1', port, path: PODS, agent, headers }, (response) =>
        response.resume().on('end', resolve),
      ).end();
    });
    await connected;
    const ended = new Promise((resolve) => session.once('close', resolve));
    await server.close();
    await ended;
    expect(session.destroyed).toBe(true);
    agent.destroy();
  });

  it('ends watches cleanly and lets requests in flight finish', async () => {
    const { server, core, port, authority } = await startServer();
    let finish: (reply: Reply) => void = () => undefined;
    const reached = new Promise<void>((resolve) => {
      core.answer = (call) => {
        if (call.verb !== 'get') return core.ordinary(call);
        resolve();
        return new Promise((answer) => {
          finish = answer;
        });
      };
    });
    const agent = new Agent({ keepAlive: true, ca: authority.ca });
    const ask = (path: string) =>
      new Promise<any>((resolve, reject) =>
        request({ host: '127.0.0.1', port, path, agent, headers }, resolve).on('error', reject).end(),
      );
    const watching = await ask(`${PODS}?watch=true`);
    const watchEnd = new Promise((resolve) => watching.resume().on('end', resolve));
    const socket = new WebSocket(`wss://127.0.0.1:${port}${PODS}?watch=true`, { ca: authority.ca, headers });
    await new Promise((resolve) => socket.once('open', resolve));
    const socketEnd = new Promise((resolve) => socket.once('close', resolve));
    const inFlight = ask(`${PODS}/slow`);
    await reached;

    const closed = server.close();
    await watchEnd;
    expect(await socketEnd).toBe(1000);
    finish({ type: 'object', item: { object: {} as never, json: () => Buffer.from('{}') } });
    const answer = await inFlight;
    expect(answer.statusCode).toBe(200);
    expect(answer.headers.connection).toBe('close');
    answer.resume();
    await closed;
    agent.destroy();
  });

  it('aborts requests that do not finish in time', async () => {
    const clock = new ControlledClock();
    const { server, core, port, authority } = await startServer({ clock, limits: { drainTimeoutMs: 1000 } });
    const reached = new Promise<void>((resolve) => {
      core.answer = () => {
        resolve();
        return new Promise(() => undefined);
      };
    });
    const broken = new Promise((resolve) => {
      request({ host: '127.0.0.1', port, path: PODS, ca: authority.ca, headers }).on('error', resolve).end();
    });
    await reached;
    const before = clock.waiting;
    const closed = server.close();
    await expect.poll(() => clock.waiting).toBeGreaterThan(before);
    await clock.advance(1000);
    await closed;
    expect(await broken).toBeInstanceOf(Error);
  });

  it('closes idle connections and no others', async () => {
    const { server, core, port, authority } = await startServer({ limits: { idleTimeoutMs: 50 } });
    const open = () => connect(`https://127.0.0.1:${port}`, { ca: authority.ca });
    const idleClosed = new Promise((resolve) => open().once('close', resolve));
    const watching = open();
    const watch = watching.request({ ':path': `${PODS}?watch=true`, ...headers });
    await new Promise((resolve) => watch.once('response', resolve));
    await idleClosed;
    expect(watching.closed).toBe(false);
    core.watches[0]?.consumer?.end();
    watch.resume();
    await new Promise((resolve) => watching.once('close', resolve));
    await server.close();
  });

  it('closes an HTTP/2 connection whose client violated the protocol, also with open streams', async () => {
    const { server, core, port, authority } = await startServer({ limits: { idleTimeoutMs: 50 } });
    const socket = connectTls({ host: '127.0.0.1', port, ca: authority.ca, ALPNProtocols: ['h2'] });
    socket.on('error', () => undefined).resume();
    const closed = new Promise((resolve) => socket.once('close', resolve));
    const frame = (type: number, flags: number, stream: number, payload: Buffer) =>
      Buffer.from([0, 0, payload.length, type, flags, 0, 0, 0, stream, ...payload]);
    const literal = (name: string, value: string) =>
      Buffer.concat([
        Buffer.from([0, name.length]),
        Buffer.from(name),
        Buffer.from([value.length]),
        Buffer.from(value),
      ]);
    const asked = {
      ':method': 'GET',
      ':path': `${PODS}?watch=true`,
      ':scheme': 'https',
      ':authority': 'x',
      ...headers,
    };
    const fields = Buffer.concat(Object.entries(asked).map(([name, value]) => literal(name, value)));
    const watched = new Promise<void>((resolve) => {
      core.answer = (call) => {
        resolve();
        return core.ordinary(call);
      };
    });
    socket.write('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');
    socket.write(frame(4, 0, 0, Buffer.alloc(0)));
    socket.write(frame(1, 5, 1, fields));
    await watched;
    // Data of no stream.
    socket.write(frame(0, 0, 0, Buffer.alloc(4)));
    await core.watches[0]!.whenStopped;
    await closed;
    expect(core.watches).toHaveLength(1);
    await server.close();
  });
}
