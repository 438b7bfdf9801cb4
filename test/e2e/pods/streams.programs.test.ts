/** Tests kubectl with a running pod, on a node in the process of the cluster and on one of `qd agent`. */
import { type ChildProcess, type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { kubectls } from '../kubectl.ts';
import { newDirectory, type Qd, runQd, spawnProgram, startQd } from '../program.ts';

const PODS = '/api/v1/namespaces/default/pods';
const LEASES = '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases';
const LOCAL = 'quarterdeck-node-1';
const REMOTE = 'remote-node';
const NODE = ['--runtime', 'process', '--allow-host-image'];
const TIMEOUT_MS = 120_000;

/** Program that echoes data on its port and on its standard input. */
const PROGRAM = `
  require('node:net').createServer((socket) => socket.pipe(socket)).listen(8080);
  require('node:http').createServer((asked, response) => response.end('at ' + asked.url)).listen(8081);
  require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => console.log('got ' + line));
  console.log('hello');
`;

let qd: Qd;
let directory: string;
let agentDirectory: string;
let agent: ChildProcess;

async function startAgent(flags: readonly string[]): Promise<ChildProcess> {
  const child = spawnProgram(
    'qd',
    ['agent', '--data-dir', agentDirectory, '--node-name', REMOTE, ...NODE, ...flags],
    {},
  );
  let said = '';
  await new Promise<void>((resolve, reject) => {
    const read = (chunk: Buffer) => {
      said += chunk;
      if (said.includes('joined')) resolve();
    };
    child.stdout?.on('data', read);
    child.stderr?.on('data', read);
    child.on('exit', (code) => reject(new Error(`qd agent ended with ${code}: ${said}`)));
  });
  return child;
}

async function stopAgent(): Promise<void> {
  agent.kill('SIGTERM');
  await once(agent, 'exit');
}

let trust: readonly string[];
let token: string;

beforeAll(async () => {
  directory = await newDirectory();
  agentDirectory = join(directory, 'agent');
  const ranges = ['--cluster-cidr', '10.237.0.0/16', '--service-cluster-ip-range', '10.137.0.0/16'];
  const flags = ['--nodes', '1', '--runtime', 'process', ...ranges];
  qd = await startQd({ directory, flags });
  const { stdout } = await runQd(['token', 'create', '--kubeconfig', qd.kubeconfig]);
  const words = stdout.slice(stdout.indexOf('qd agent')).split(/\s+/).slice(2);
  const wordAfter = (flag: string) => words[words.indexOf(flag) + 1]!;
  trust = ['--server', qd.origin, '--ca-hash', wordAfter('--ca-hash')];
  token = wordAfter('--token');
  agent = await startAgent([...trust, '--token', token]);
  for (const node of [LOCAL, REMOTE]) {
    const container = { name: 'c', image: 'host', stdin: true, command: [process.execPath, '-e', PROGRAM] };
    await run(`web-${node}`, node, { containers: [container] });
    await run(`bad-${node}`, node, { containers: [{ ...container, command: ['sh', '-c', 'echo broken; exit 3'] }] });
  }
  for (const node of [LOCAL, REMOTE]) {
    await until(`web-${node}`, ({ conditions }) => conditions?.some((each: any) => isTrue(each, 'Ready')));
    await until(`bad-${node}`, ({ containerStatuses }) => containerStatuses?.[0]?.restartCount > 0);
  }
}, TIMEOUT_MS);

afterAll(async () => {
  await qd?.request('DELETE', `${PODS}?gracePeriodSeconds=0`);
  for (const node of [LOCAL, REMOTE]) await qd?.untilGone(PODS, `web-${node}`);
  if (agent?.exitCode === null) await stopAgent();
  await qd?.stop();
  for (const data of [join(directory, 'data'), agentDirectory]) await runQd(['reset', '--yes', '--data-dir', data]);
  await rm(directory, { recursive: true, force: true });
}, TIMEOUT_MS);

function run(name: string, nodeName: string, spec: object) {
  return qd.request('POST', PODS, { body: { metadata: { name }, spec: { nodeName, ...spec } } });
}

const until = (name: string, condition: (status: any) => boolean) =>
  qd.until(PODS, ({ metadata, status }) => metadata.name === name && condition(status));

const isTrue = ({ type, status }: { type: string; status: string }, wanted: string) =>
  type === wanted && status === 'True';

describe.each(kubectls)('kubectl ($name)', ({ program, isNewest }) => {
  const start = (...parameters: string[]): ChildProcessWithoutNullStreams =>
    spawn(program, parameters, { env: { PATH: process.env.PATH, HOME: directory, KUBECONFIG: qd.kubeconfig } });

  async function kubectl(parameters: readonly string[], input = '') {
    const child = start(...parameters);
    child.stdin.end(input);
    const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
    return { stdout, stderr, code };
  }

  describe.each([LOCAL, REMOTE])('on %s', (node) => {
    const web = `web-${node}`;

    test('runs a command, and exits as it does', { timeout: TIMEOUT_MS }, async () => {
      const command = ['sh', '-c', 'cat; echo err >&2; exit 3'];
      const { stdout, stderr, code } = await kubectl(['exec', '-i', web, '--', ...command], 'out\n');
      expect({ stdout, code }).toEqual({ stdout: 'out\n', code: 3 });
      expect(stderr).toBe('err\ncommand terminated with exit code 3\n');
    });

    test('has a terminal', { timeout: TIMEOUT_MS }, async () => {
      const command = `${program} exec -it ${web} -- sh -c 'tty; read -r line; echo "read $line"'`;
      const env = { PATH: process.env.PATH, HOME: directory, KUBECONFIG: qd.kubeconfig };
      const child = spawn('script', ['-qec', command, '/dev/null'], { env });
      let said = '';
      child.stdout.on('data', function type(bytes: Buffer) {
        said += bytes;
        if (!said.includes('/dev/pts')) return;
        child.stdout.off('data', type);
        child.stdin.write('typed\n');
      });
      const [stdout, [code]] = await Promise.all([text(child.stdout), once(child, 'close')]);
      expect(stdout).toContain('read typed');
      expect(code).toBe(0);
    });

    test('copies files both ways', { timeout: TIMEOUT_MS }, async () => {
      const [from, there, back] = [join(directory, 'from'), `/tmp/streams-${node}`, join(directory, 'back')];
      const content = `${node} ${program} ${'x'.repeat(1_000_000)}`;
      await writeFile(from, content);
      expect((await kubectl(['cp', from, `${web}:${there}`])).code).toBe(0);
      expect((await kubectl(['cp', `${web}:${there}`, back])).code).toBe(0);
      expect(await readFile(back, 'utf8')).toBe(content);
    });

    test('forwards a port', { timeout: TIMEOUT_MS }, async () => {
      const child = start('port-forward', web, ':8080');
      try {
        const [line] = await once(child.stdout, 'data');
        const port = Number(/127\.0\.0\.1:(\d+)/.exec(String(line))?.[1]);
        const socket = connect(port, '127.0.0.1');
        socket.write('through the pod');
        expect(String((await once(socket, 'data'))[0])).toBe('through the pod');
        socket.destroy();
      } finally {
        child.kill();
        await once(child, 'close');
      }
    });

    test('attaches', { timeout: TIMEOUT_MS }, async () => {
      const child = start('attach', '-i', web);
      const line = `${node} ${isNewest}`;
      const answered = new Promise<string>((resolve) => {
        let said = '';
        child.stdout.on('data', (bytes) => {
          said += bytes;
          if (said.includes(`got ${line}\n`)) resolve(said);
        });
      });
      child.stdin.write(`${line}\n`);
      expect(await answered).toContain(`got ${line}\n`);
      child.kill();
      await once(child, 'close');
    });

    test('reads logs, follows them to their end, and reads those of the container before', {
      timeout: TIMEOUT_MS,
    }, async () => {
      expect((await kubectl(['logs', web, '--tail=-1'])).stdout).toMatch(/^hello\n/);
      expect((await kubectl(['logs', `bad-${node}`, '--previous'])).stdout).toBe('broken\n');
      const name = `short-${node}-${isNewest}`;
      const command = ['sh', '-c', 'echo one; sleep 1; echo two'];
      await run(name, node, { restartPolicy: 'Never', containers: [{ name: 'c', image: 'host', command }] });
      await until(name, ({ phase }) => phase !== 'Pending');
      expect((await kubectl(['logs', '-f', name])).stdout).toBe('one\ntwo\n');
    });

    test('shows usage', { timeout: TIMEOUT_MS }, async () => {
      // The agent measures every ten seconds, and needs two measurements.
      await measured(node);
      expect((await kubectl(['top', 'node', node])).stdout).toMatch(new RegExp(`${node} +\\d+m`));
      expect((await kubectl(['top', 'pod', web])).stdout).toMatch(new RegExp(`${web} +\\d+m +\\d+Mi`));
    });

    test.skipIf(!isNewest)('debugs a pod with another container', { timeout: TIMEOUT_MS }, async () => {
      const flags = ['--image=host', '--container=tool', '--target=c', '--attach', '--quiet'];
      const { stdout, stderr } = await kubectl(['debug', web, ...flags, '--', 'sh', '-c', 'sleep 1; echo debugged']);
      expect(stdout + stderr).toContain('debugged');
    });

    test('ends what it started when it is stopped', { timeout: TIMEOUT_MS }, async () => {
      const child = start('exec', web, '--', 'sh', '-c', 'echo $$; exec sleep 1000');
      const [line] = await once(child.stdout, 'data');
      const pid = Number(String(line));
      child.kill('SIGKILL');
      await once(child, 'close');
      const isThere = async () =>
        (await kubectl(['exec', web, '--', 'sh', '-c', `test -e /proc/${pid} && echo there; true`])).stdout !== '';
      while (await isThere());
      expect(await isThere()).toBe(false);
    });
  });
});

async function measured(node: string): Promise<void> {
  for (;;) {
    const { code } = await qd.request('GET', `/apis/metrics.k8s.io/v1beta1/nodes/${node}`);
    const pod = await qd.request('GET', `/apis/metrics.k8s.io/v1beta1/namespaces/default/pods/web-${node}`);
    if (code === 200 && pod.code === 200) return;
    // Its lease is renewed about as often as it measures.
    const { spec } = (await qd.request('GET', `${LEASES}/${node}`)).body;
    await qd.until(LEASES, (lease) => lease.metadata.name === node && lease.spec.renewTime !== spec.renewTime);
  }
}

describe.each([LOCAL, REMOTE])('a proxy to %s', (node) => {
  test('reaches the agent, by every name', async () => {
    const { status } = (await qd.request('GET', `/api/v1/nodes/${node}`)).body;
    const { Port: port } = status.daemonEndpoints.kubeletEndpoint;
    for (const name of [node, `${node}:${port}`, `https:${node}:${port}`]) {
      expect(await qd.request('GET', `/api/v1/nodes/${name}/proxy/healthz`)).toMatchObject({ code: 200, text: 'ok' });
    }
    expect((await qd.request('GET', `/api/v1/nodes/${node}/proxy/pods`)).body.kind).toBe('PodList');
    expect((await qd.request('GET', `/api/v1/nodes/${node}/proxy/metrics/resource`)).text).toContain('# TYPE');
    expect((await qd.request('GET', `/api/v1/nodes/${node}/proxy/logs/`)).text).toContain('<a href=');
  });

  test('reaches its pods', async () => {
    const path = `${PODS}/web-${node}:8081/proxy/some/path?q`;
    expect(await qd.request('GET', path)).toMatchObject({ code: 200, text: 'at /some/path?q' });
  });
});

test.each([LOCAL, REMOTE])('a join token does not get the certificate of %s, which is alive', async (node) => {
  const data = join(directory, `other-${node}`);
  const joined = await runQd(['agent', '--data-dir', data, '--node-name', node, ...NODE, ...trust, '--token', token]);
  expect(joined.code).toBe(1);
  expect(joined.stderr).toContain(`Node ${node} exists and is alive`);
  expect(joined.stderr).toContain(`kubectl delete node ${node}`);
});

test('an agent that is started again finds its pods, with the certificates that it has, also after the authority was rotated', {
  timeout: TIMEOUT_MS,
}, async () => {
  const certificate = () => readFile(join(agentDirectory, 'nodes', REMOTE, 'pki', 'serving.crt'), 'utf8');
  const first = await certificate();
  const rotated = await runQd(['certs', 'rotate', 'authority', 'serving', '--data-dir', join(directory, 'data')]);
  expect(rotated).toMatchObject({ code: 0, stderr: '' });
  // It follows the new authority, which issues new certificates.
  await expect.poll(() => certificate().catch(() => first)).not.toBe(first);
  const healthz = `/api/v1/nodes/${REMOTE}/proxy/healthz`;
  await expect.poll(async () => (await qd.request('GET', healthz)).code).toBe(200);
  const name = `web-${REMOTE}`;
  const before = (await qd.request('GET', `${PODS}/${name}`)).body.status.containerStatuses[0];
  const serving = await certificate();
  await stopAgent();
  const { body } = await qd.request('GET', `${PODS}/${name}/log`);
  expect(body).toMatchObject({ code: 500, message: expect.stringContaining('connect: connection refused') });
  // It starts also while the server does not answer.
  agent = await startAgent(['--server', 'https://127.0.0.1:1', ...trust.slice(2)]);
  await stopAgent();
  agent = await startAgent(trust);
  // It has registered; it takes its pods over soon after that.
  while ((await qd.request('GET', `${PODS}/${name}/log`)).code !== 200);
  const after = (await qd.request('GET', `${PODS}/${name}`)).body.status.containerStatuses[0];
  expect(after.containerID).toBe(before.containerID);
  expect(await certificate()).toBe(serving);
});
