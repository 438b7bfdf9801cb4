/** The process runtime, as root: with namespaces, an address for each pod and limits. */
import { execFileSync, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { processIdentity } from '../../src/base/programs/process-identity.ts';
import { HOST_IMAGE_ID } from '../../src/kinds/shapes/container/host-image.ts';
import { freePort } from '../support/free-port.ts';
import { describeRuntime } from './contract.ts';
import { prepareProcess } from './process.ts';
import { BUSYBOX, NO_RESOURCES, PLAIN_SECURITY, World } from './world.ts';

/** Ids that no user of the machine has. */
const IDS = [{ hostId: 40_000 * 65_536, containerId: 0, length: 65_536 }];

const missing = whyMissing();
if (missing) console.warn(`the tests of the process runtime are skipped: ${missing}`);

function whyMissing(): string | undefined {
  if (process.getuid?.() !== 0) return 'they need root';
  return existsSync(BUSYBOX) ? undefined : 'busybox is not installed';
}

describe.skipIf(missing)('on this machine', () => {
  const lacks = {
    'closed streams': 'runc holds the streams of a command, and forwards the SIGPIPE that it gets for them',
  };
  describeRuntime('process', () => prepareProcess(), lacks);

  const withUsers = async () => ({ ...(await prepareProcess()), idMappings: IDS });
  describeRuntime('process with user namespaces', withUsers, lacks);

  describe('what only this runtime has', () => {
    let under: Awaited<ReturnType<typeof prepareProcess>>;
    let world: World;

    beforeAll(async () => {
      under = await prepareProcess();
      world = new World(under);
      await world.start();
    });
    afterEach(() => world.removeAll());
    afterAll(() => world.stop());

    const kept = (...path: string[]) => join(under.directory, 'runtime', ...path);
    const keeperPid = async () => Number(await readFile(kept('keeper.pid'), 'utf8'));
    const pidOf = async (id: string) => Number(await readFile(kept('containers', id, 'pid'), 'utf8'));
    const parentOf = async (pid: number) =>
      Number(/^PPid:\s+(\d+)$/m.exec(await readFile(`/proc/${pid}/status`, 'utf8'))?.[1]);
    const host = { image: 'host', imageId: HOST_IMAGE_ID };
    /** Script that waits for a listener on port 8080. */
    const listening = 'while ! grep -qi ":1F90 " /proc/net/tcp /proc/net/tcp6; do sleep 0.05; done';
    const untilListening = { command: ['/bin/sh', '-c', listening], timeoutMs: 10_000, maxBytes: 100 };

    it('replaces a keeper that was killed, and what runs goes on', async () => {
      const running = await world.run('i=0; while :; do i=$((i+1)); echo $i; sleep 0.05; done');
      const ending = await world.run('while [ ! -e /tmp/go ]; do sleep 0.05; done; echo end; exit 5');
      const [before, pid] = [await keeperPid(), await pidOf(running.id)];
      const reconnected = new Promise<void>((resolve) => {
        world.runtime.onChange((sandboxId) => sandboxId === undefined && resolve());
      });
      process.kill(before, 'SIGKILL');
      await reconnected;
      expect(await keeperPid()).not.toBe(before);
      expect(await pidOf(running.id)).toBe(pid);
      const written = (await running.log()).length;
      await expect.poll(async () => (await running.log()).length).toBeGreaterThan(written);
      const numbers = (await running.log()).map((line) => Number(line.split(' ')[2]));
      expect(numbers).toEqual(numbers.map((_, i) => i + 1));
      const go = { command: ['/bin/touch', '/tmp/go'], timeoutMs: 10_000, maxBytes: 100 };
      await world.runtime.run(ending.id, go);
      expect(await ending.ended()).toMatchObject({ exitCode: 5, reason: 'Error' });
      expect(await ending.log()).toEqual(['stdout F end']);
    });

    it('ends what it does not know any more when its directory was removed', async () => {
      const { id } = await world.run('sleep 1000');
      const [before, pid] = [await keeperPid(), await pidOf(id)];
      const reconnected = new Promise<void>((resolve) => {
        world.runtime.onChange((sandboxId) => sandboxId === undefined && resolve());
      });
      // What is mounted there stays.
      spawnSync('rm', ['-rf', kept()]);
      process.kill(before, 'SIGKILL');
      await reconnected;
      expect((await processIdentity(pid)).started).toBe('');
      expect(await world.runtime.sandboxes()).toEqual([]);
      expect(readFileSync('/proc/self/mountinfo', 'utf8')).not.toContain(kept('sandboxes'));
    });

    it('ends commands that a killed keeper has left', async () => {
      const { id } = await world.run('sleep 1000');
      const command = ['/bin/sh', '-c', 'echo $$ > /tmp/pid; echo up; exec sleep 1001'];
      const request = { command, stdin: false, stdout: true, stderr: false, tty: false };
      const streams = await world.runtime.exec(id, request);
      streams.exit.catch(() => undefined);
      await once(streams.stdout!, 'data');
      const isRunning = () =>
        execFileSync('ps', ['axo', 'args'], { encoding: 'utf8' }).split('\n').includes('sleep 1001');
      // The shell has said so before it becomes that.
      await expect.poll(isRunning).toBe(true);
      await world.reopen(async () => {
        process.kill(await keeperPid(), 'SIGKILL');
      });
      await expect.poll(isRunning).toBe(false);
    });

    it('keeps the exit code of a container that ends while neither agent nor keeper run', async () => {
      const container = await world.run('while [ ! -e /tmp/go ]; do sleep 0.05; done; exit 6');
      const pid = await pidOf(container.id);
      await world.reopen(async () => {
        process.kill(await keeperPid(), 'SIGKILL');
        await writeFile(`/proc/${pid}/root/tmp/go`, '');
        await expect.poll(() => existsSync(`/proc/${pid}`)).toBe(false);
      });
      expect(await container.ended()).toMatchObject({ exitCode: 6 });
    });

    it('notices a supervisor that was killed, and ends its container', async () => {
      const container = await world.run('echo up; sleep 1000');
      const pid = await pidOf(container.id);
      process.kill(await parentOf(await parentOf(pid)), 'SIGKILL');
      expect(await container.ended()).toMatchObject({ exitCode: 137, reason: 'Unknown' });
      await expect.poll(() => existsSync(`/proc/${pid}`)).toBe(false);
    });

    it('ends a container whose OCI runtime was killed', async () => {
      const container = await world.run('echo up; sleep 1000');
      const pid = await pidOf(container.id);
      process.kill(await parentOf(pid), 'SIGKILL');
      expect(await container.ended()).toMatchObject({ exitCode: 137 });
      await expect.poll(() => existsSync(`/proc/${pid}`)).toBe(false);
    });

    it('starts containers without a signal of its runtime', async () => {
      // The first process of a namespace would ignore it.
      const sandbox = world.sandbox({ namespaces: { ...world.sandbox().namespaces, pid: 'pod' } });
      const security = { ...PLAIN_SECURITY, pid: 'pod' } as const;
      // The network is there: nothing holds the runtime up.
      const { sandboxId } = await world.run('sleep 1000', { security }, sandbox);
      const ends = [];
      for (let attempt = 1; attempt <= 10; attempt++) {
        const config = world.container({ attempt, security, command: ['/bin/sh', '-c', 'sleep 0.1; exit 7'] });
        const id = await world.runtime.createContainer(sandboxId, config, sandbox);
        await world.runtime.startContainer(id);
        const ended = await world.until(async () => {
          const container = await world.runtime.container(id);
          return container?.state === 'exited' ? container : undefined;
        });
        ends.push(ended.exitCode);
      }
      expect(ends).toEqual(Array.from({ length: 10 }, () => 7));
    });

    it('notices that the namespaces of a pod are gone', async () => {
      const namespaces = { ...world.sandbox().namespaces, pid: 'pod' } as const;
      const { sandboxId } = await world.run('sleep 1000', {}, world.sandbox({ namespaces }));
      const { holder } = JSON.parse(await readFile(kept('sandboxes', sandboxId, 'sandbox.json'), 'utf8'));
      process.kill(holder.pid, 'SIGKILL');
      await world.until(async () => ((await world.runtime.sandboxes())[0]?.isReady === false ? true : undefined));
      await world.runtime.removeSandbox(sandboxId);
      expect(await world.runtime.sandboxes()).toEqual([]);
    });

    it('runs programs of the node, which see its files and change nothing', async () => {
      const name = `quarterdeck-${process.pid}`;
      const script = `require('fs').writeFileSync('/usr/${name}', process.version); console.log(require('fs').readFileSync('/usr/${name}', 'utf8'))`;
      const container = await world.create({ ...host, command: ['node', '-e', script] });
      await world.runtime.startContainer(container.id);
      expect(await container.output()).toBe(process.version);
      expect(existsSync(`/usr/${name}`)).toBe(false);
      expect(await world.runtime.images.find('host')).toMatchObject({ id: HOST_IMAGE_ID, isPinned: true });
    });

    it('connects pods with each other, and ports of the node with pods', async () => {
      const port = await freePort();
      const ports = [{ protocol: 'TCP', containerPort: 8080, hostPort: port, hostIP: undefined }] as const;
      const server = await world.run('exec nc -ll -p 8080 -e /bin/echo hello', {}, world.sandbox({ ports }));
      await world.runtime.run(server.id, untilListening);
      const [{ addresses } = { addresses: [] }] = await world.runtime.sandboxes();
      const client = await world.run(`nc ${addresses[0]} 8080 </dev/null`);
      expect(await client.output()).toBe('hello');
      for (const address of ['127.0.0.1', addresses[0]!]) {
        const target = { host: address, port: address === '127.0.0.1' ? port : 8080 };
        expect(await text(connect(target))).toBe('hello\n');
      }
    });

    it('reaches its pods beside what is left of another node with the same range', async () => {
      const range = `10.231.${process.pid % 250}.0/26`;
      const left = new World(await prepareProcess([], range));
      await left.start();
      await left.run('sleep 1000');
      await left.removeAll();
      const beside = new World(await prepareProcess([], range));
      await beside.start();
      try {
        const server = await beside.run('exec nc -ll -p 8080 -e /bin/echo hello');
        await beside.runtime.run(server.id, untilListening);
        const [{ addresses } = { addresses: [] }] = await beside.runtime.sandboxes();
        expect(await text(connect({ host: addresses[0]!, port: 8080 }))).toBe('hello\n');
      } finally {
        await beside.removeAll();
        await beside.stop();
        await left.stop();
      }
    });

    it('gives a program that reopens its output by name what it needs', async () => {
      const security = { ...PLAIN_SECURITY, runAsUser: 1000 };
      const container = await world.run('echo out >/dev/stdout; echo err >/dev/stderr', { security });
      await container.ended();
      expect((await container.log()).toSorted()).toEqual(['stderr F err', 'stdout F out']);
      const other = await world.run('sleep 1000', { security });
      const command = ['/bin/sh', '-c', 'cat >/dev/stdout; echo err >/dev/stderr'];
      const streams = await world.runtime.exec(other.id, {
        command,
        stdin: true,
        stdout: true,
        stderr: true,
        tty: false,
      });
      streams.stdin?.end('in\n');
      expect(await Promise.all([text(streams.stdout!), text(streams.stderr!)])).toEqual(['in\n', 'err\n']);
    });

    it('keeps exit codes, and removes pods, on a full disk', async () => {
      const small = await prepareProcess();
      const runtime = join(small.directory, 'runtime');
      const filler = join(runtime, 'filler');
      const fill = () => expect(() => writeFileSync(filler, Buffer.alloc(2 ** 21))).toThrow('ENOSPC');
      mkdirSync(runtime);
      execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', runtime]);
      try {
        const other = new World(small);
        await other.start();
        const container = await other.run('trap "exit 7" USR1; echo up; while :; do sleep 0.05; done');
        await expect.poll(() => container.log()).toEqual(['stdout F up']);
        const keeper = await readFile(join(runtime, 'keeper.pid'), 'utf8');
        const files = join(runtime, 'containers', container.id);
        const pid = Number(await readFile(join(files, 'pid'), 'utf8'));
        fill();
        process.kill(pid, 'SIGUSR1');
        expect(await container.ended()).toMatchObject({ exitCode: 7, reason: 'Error' });
        await expect(other.run('true')).rejects.toThrow('ENOSPC');
        rmSync(filler);
        await expect.poll(() => existsSync(join(files, 'end'))).toBe(true);
        fill();
        await other.removeAll();
        expect(await readdir(join(runtime, 'containers'))).toEqual([]);
        expect(await readFile(join(runtime, 'keeper.pid'), 'utf8')).toBe(keeper);
        await other.runtime.close();
      } finally {
        execFileSync('umount', ['--lazy', runtime]);
        await small.stop();
      }
    });

    it('keeps roots of containers to themselves where the node shares all mounts, also of one that mounts for it', async () => {
      const { stop, directory, open, name } = await prepareProcess();
      const run = `/run/quarterdeck-${name}`;
      const shared = [run, directory];
      const mounts = () => readFileSync('/proc/self/mountinfo', 'utf8').split('\n');
      const other = new World({ stop: async () => {}, directory, open });
      try {
        for (const path of shared) {
          mkdirSync(path, { recursive: true });
          execFileSync('mount', ['--bind', path, path]);
          execFileSync('mount', ['--make-shared', path]);
        }
        await other.start();
        const folder = await other.folder('volume');
        mkdirSync(join(folder, 'inner'));
        const security = { ...PLAIN_SECURITY, privileged: true, maskedPaths: [], readOnlyPaths: [] };
        const privileged = other.sandbox({ security: { ...other.sandbox().security, privileged: true } });
        const volume = { hostPath: folder, containerPath: '/data', readOnly: false, recursiveReadOnly: false };
        const rest = { selinuxRelabel: false, idMappings: undefined, image: undefined };
        const ids: string[] = [];
        for (const image of [host, {}]) {
          const mounting = { ...volume, ...rest, propagation: 'bidirectional' } as const;
          const script =
            'mount -t tmpfs own /data/inner || /bin/busybox mount -t tmpfs own /data/inner; exec sleep 1000';
          const { id } = await other.run(script, { ...image, mounts: [mounting], security }, privileged);
          await expect.poll(() => mounts().filter((line) => line.includes(join(folder, 'inner')))).toHaveLength(1);
          execFileSync('umount', [join(folder, 'inner')]);
          ids.push(id, (await other.run('sleep 1000')).id);
        }
        const ownPaths = [...ids, join(run, 'dev ')];
        expect(mounts().filter((line) => ownPaths.some((path) => line.includes(path)))).toEqual([]);
        await other.removeAll();
        expect(readdirSync(join(run, 'layers'))).toEqual([]);
      } finally {
        await other.removeAll();
        for (const path of shared) execFileSync('umount', ['--recursive', '--lazy', path]);
        await other.runtime.close();
        await expect.poll(() => traces(name)).toEqual([]);
        await stop();
        rmSync(run, { recursive: true, force: true });
      }
    });

    it('leaves nothing behind', async () => {
      const { stop, directory, open, name } = await prepareProcess();
      const other = new World({ stop, directory, open });
      await other.start();
      const container = await other.run('sleep 1000', { resources: { ...NO_RESOURCES, memoryBytes: 2 ** 26 } });
      const pid = Number(await readFile(join(directory, 'runtime/containers', container.id, 'pid'), 'utf8'));
      expect(traces(name)).not.toEqual([]);
      await other.removeAll();
      await other.runtime.close();
      await expect.poll(() => traces(name)).toEqual([]);
      expect(existsSync(`/proc/${pid}`)).toBe(false);
      expect(await readdir(join(directory, 'runtime', 'containers'))).toEqual([]);
      expect(await readdir(join(directory, 'runtime', 'sandboxes'))).toEqual([]);
      await stop();
    });

    /** Whatever in this machine carries the name of a runtime. */
    function traces(name: string): string[] {
      const run = (program: string, ...args: string[]) => execFileSync(program, args, { encoding: 'utf8' });
      const cgroups = readdirSync('/sys/fs/cgroup').flatMap((controller) => {
        const path = join('/sys/fs/cgroup', controller, `quarterdeck-${name}`);
        return existsSync(path) ? [path] : [];
      });
      return [
        ...run('ip', '-o', 'link').split('\n'),
        ...run('nft', 'list', 'tables').split('\n'),
        ...run('ps', 'axo', 'args').split('\n'),
        ...readdirSync('/dev/shm'),
        ...cgroups,
      ].filter((line) => line.includes(`qd-${name}`) || line.includes(name) || line.includes(name.replace('-', '_')));
    }
  });
});
