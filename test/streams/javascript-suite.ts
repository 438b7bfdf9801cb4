/** exec, attach and port-forward with the official JavaScript client, which speaks WebSockets; rights and the audit log. */
import { once } from 'node:events';
import { request } from 'node:https';
import { type AddressInfo, connect, createServer } from 'node:net';
import { PassThrough, Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { Attach, Exec, KubeConfig, PortForward, type V1Status } from '@kubernetes/client-node';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { systemRandom } from '../../src/base/random.ts';
import { systemClock } from '../../src/base/time/clock.ts';
import { Audit } from '../../src/server/access/audit/audit.ts';
import type { HostNode } from './host-node.ts';
import { type StreamServer, startStreamServer } from './server.ts';

/** `open` opens the node that the pods run on. */
export function javascriptStreams(open: () => HostNode | Promise<HostNode>): void {
  let node: HostNode;
  let running: StreamServer;
  let config: KubeConfig;
  const audited: any[] = [];

  beforeAll(async () => {
    node = await open();
    const backend = { dropped: {}, write: (line: string) => void audited.push(JSON.parse(line)) };
    const policy = { rules: [{ level: 'Metadata' }] } as never;
    const audit = new Audit({ policy, backends: [backend], clock: systemClock, random: systemRandom });
    running = await startStreamServer(node, { audit });
    await running.createPod('web');
    config = new KubeConfig();
    config.loadFromFile(running.kubeconfig);
  });

  afterAll(async () => {
    node.stop();
    await running.stop();
  });

  it('runs a command', async () => {
    const [stdout, stderr] = [new PassThrough(), new PassThrough()];
    const status = new Promise<V1Status>((resolve) => {
      const command = ['sh', '-c', 'head -c 5; echo err >&2; exit 7'];
      void new Exec(config).exec(
        'default',
        'web',
        'c',
        command,
        stdout,
        stderr,
        Readable.from('hello'),
        false,
        resolve,
      );
    });
    expect(await status).toMatchObject({
      ...{ status: 'Failure', reason: 'NonZeroExitCode', details: { causes: [{ reason: 'ExitCode', message: '7' }] } },
    });
    expect([String(stdout.read()), String(stderr.read())]).toEqual(['hello', 'err\n']);
  });

  it('attaches', async () => {
    const stdout = new PassThrough();
    const socket = await new Attach(config).attach('default', 'web', 'c', stdout, null, null, false);
    expect(String((await once(stdout, 'data'))[0])).toBe('attached\n');
    socket.close();
  });

  it('forwards a port', async () => {
    const target = createServer({ allowHalfOpen: true }, (socket) => socket.pipe(socket)).listen(0, '127.0.0.1');
    await once(target, 'listening');
    const { port } = target.address() as AddressInfo;
    const forward = new PortForward(config);
    const local = createServer((socket) => {
      void forward.portForward('default', 'web', [port], socket, null, socket);
    }).listen(0, '127.0.0.1');
    await once(local, 'listening');
    const socket = connect((local.address() as AddressInfo).port, '127.0.0.1');
    socket.write('through the pod');
    expect(String((await once(socket, 'data'))[0])).toBe('through the pod');
    socket.destroy();
    local.close();
    target.close();
  });

  it('records who ran what', () => {
    const events = audited.filter(({ objectRef }) => objectRef?.subresource === 'exec');
    expect(events.at(-1)).toMatchObject({
      ...{ verb: 'get', user: { username: 'admin' }, responseStatus: { code: 101 } },
      objectRef: { resource: 'pods', name: 'web', subresource: 'exec' },
    });
  });

  function ask(path: string, token: string): Promise<{ code: number; body: string }> {
    const headers = { authorization: `Bearer ${token}`, connection: 'Upgrade', upgrade: 'SPDY/3.1' };
    const { port, ca } = running;
    return new Promise((resolve, reject) => {
      const call = request({ host: '127.0.0.1', port, method: 'POST', path, headers, ca, agent: false }, (response) => {
        text(response).then((body) => resolve({ code: response.statusCode!, body }), reject);
      });
      call.on('error', reject);
      call.end();
    });
  }

  it('rejects with a Status before the protocol is switched', async () => {
    const exec = '/api/v1/namespaces/default/pods/web/exec';
    expect((await ask(`${exec}?command=true&stdout=true`, 'nobody')).code).toBe(403);
    expect(JSON.parse((await ask(`${exec}?command=true`, 'admin')).body)).toMatchObject({
      ...{ code: 400, message: 'you must specify at least 1 of stdin, stdout, stderr' },
    });
    expect((await ask(`${exec}?stdout=true`, 'admin')).code).toBe(400);
  });

  it('carries much', async () => {
    const stdout = new PassThrough();
    let received = 0;
    stdout.on('data', (bytes: Buffer) => {
      received += bytes.length;
    });
    const status = await new Promise<V1Status>((resolve) => {
      const command = ['head', '-c', '20000000', '/dev/zero'];
      void new Exec(config).exec('default', 'web', 'c', command, stdout, null, null, false, resolve);
    });
    expect(status).toMatchObject({ status: 'Success' });
    expect(received).toBe(20_000_000);
  });
}
