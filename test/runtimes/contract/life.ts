/** Sandboxes and containers from their start to their end. */
import { readFile, rename } from 'node:fs/promises';
import { expect, it } from 'vitest';
import type { Subject } from '../world.ts';

export function describeLife({ world, lacks }: Subject): void {
  it('runs a sandbox, stops it, and removes it', async () => {
    const { runtime } = world();
    const config = world().sandbox({ labels: { app: 'a' }, annotations: { note: 'b' }, attempt: 2 });
    const id = await runtime.runSandbox(config);
    const [sandbox] = await runtime.sandboxes();
    expect(sandbox).toMatchObject({ id, pod: config.pod, attempt: 2, isReady: true });
    expect(sandbox?.labels).toEqual({ app: 'a' });
    expect(sandbox?.annotations).toEqual({ note: 'b' });
    expect(Math.abs(Date.now() - (sandbox?.createdAt ?? 0))).toBeLessThan(60_000);
    await runtime.stopSandbox(id);
    expect(await runtime.sandboxes()).toMatchObject([{ id, isReady: false }]);
    await runtime.stopSandbox(id);
    await runtime.removeSandbox(id);
    expect(await runtime.sandboxes()).toEqual([]);
    await runtime.removeSandbox(id);
  });

  it.skipIf(lacks['pod network'])('gives each sandbox an address of its own', async () => {
    const { runtime } = world();
    await Promise.all([1, 2].map(() => runtime.runSandbox(world().sandbox())));
    const addresses = (await runtime.sandboxes()).flatMap((sandbox) => sandbox.addresses);
    expect(new Set(addresses).size).toBe(2);
  });

  it('has no address for a sandbox on the network of the node', async () => {
    const { runtime } = world();
    const namespaces = { ...world().sandbox().namespaces, network: 'node' } as const;
    await runtime.runSandbox(world().sandbox({ namespaces }));
    expect(await runtime.sandboxes()).toMatchObject([{ addresses: [], isReady: true }]);
  });

  it('runs a container to its end', async () => {
    const { runtime } = world();
    const container = await world().create({ command: ['/bin/sh', '-c', 'exit 3'], attempt: 1 });
    expect(await container.status()).toMatchObject({ state: 'created', startedAt: undefined, exitCode: undefined });
    await runtime.startContainer(container.id);
    const ended = await container.ended();
    expect(ended).toMatchObject({
      name: 'main',
      attempt: 1,
      exitCode: 3,
      reason: 'Error',
      labels: { container: 'main' },
    });
    expect(ended).toMatchObject({ sandboxId: container.sandboxId, image: 'docker.io/library/contract:1' });
    expect(ended.imageId).not.toBe('');
    expect(ended.createdAt).toBeLessThanOrEqual(ended.startedAt ?? 0);
    expect(ended.startedAt).toBeLessThanOrEqual(ended.finishedAt ?? 0);
    expect(await runtime.containers()).toEqual([ended]);
  });

  it('runs one until it is stopped', async () => {
    const container = await world().run('sleep 1000');
    expect(await container.status()).toMatchObject({ state: 'running', finishedAt: undefined, exitCode: undefined });
    await world().runtime.stopContainer(container.id, 0);
    expect(await container.status()).toMatchObject({ state: 'exited', exitCode: 137 });
  });

  it('says how a container has succeeded', async () => {
    const container = await world().run('true');
    expect(await container.ended()).toMatchObject({ exitCode: 0, reason: 'Completed' });
  });

  it('lets a container end by itself when it is stopped', async () => {
    const container = await world().run('trap "echo bye; exit 7" TERM; echo up; while true; do sleep 0.05; done');
    await logged(container, 'stdout F up');
    await world().runtime.stopContainer(container.id, 30);
    expect(await container.status()).toMatchObject({ state: 'exited', exitCode: 7 });
    expect(await container.log()).toEqual(['stdout F up', 'stdout F bye']);
  });

  it('kills a container that does not end in time', async () => {
    const container = await world().run('trap "" TERM; echo up; while true; do sleep 0.05; done');
    await logged(container, 'stdout F up');
    const before = Date.now();
    await world().runtime.stopContainer(container.id, 1);
    expect(Date.now() - before).toBeGreaterThanOrEqual(900);
    expect(await container.status()).toMatchObject({ state: 'exited', exitCode: 137 });
  });

  it('stops the containers of a sandbox with it', async () => {
    const container = await world().run('sleep 1000');
    await world().runtime.stopSandbox(container.sandboxId);
    expect(await container.ended()).toMatchObject({ state: 'exited' });
    await world().runtime.removeSandbox(container.sandboxId);
    expect(await world().runtime.container(container.id)).toBeUndefined();
    expect(await world().runtime.containers()).toEqual([]);
  });

  it('accepts stopping and removing a container that is gone', async () => {
    const { runtime } = world();
    const container = await world().run('true');
    await container.ended();
    await runtime.stopContainer(container.id, 1);
    await runtime.removeContainer(container.id);
    expect(await runtime.container(container.id)).toBeUndefined();
    await runtime.removeContainer(container.id);
    await runtime.stopContainer(container.id, 1);
    const unknown = 'f'.repeat(64);
    await runtime.stopSandbox(unknown);
    await runtime.removeSandbox(unknown);
    expect(await runtime.container(unknown)).toBeUndefined();
  });

  it('refuses to start what cannot be run', async () => {
    const container = await world().create({ command: ['/no/such/program'] });
    await expect(world().runtime.startContainer(container.id)).rejects.toMatchObject({
      name: 'RuntimeError',
      code: 'CannotRun',
    });
  });

  it('reports every change', async () => {
    const seen = new Set<string | undefined>();
    const stop = world().runtime.onChange((sandboxId) => seen.add(sandboxId));
    const container = await world().run('true');
    await container.ended();
    stop();
    expect([...seen].some((id) => id === undefined || id === container.sandboxId)).toBe(true);
  });

  it('writes logs in the format of CRI', async () => {
    const container = await world().run('echo one; echo two >&2; printf three', {}, world().sandbox());
    await container.ended();
    const text = await readFile((await container.status()).logPath, 'utf8');
    for (const line of text.split('\n').slice(0, -1)) {
      expect(line).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+(Z|[+-]\d\d:\d\d) (stdout|stderr) [FP] /);
    }
    expect((await container.log()).toSorted()).toEqual(['stderr F two', 'stdout F one', 'stdout P three']);
  });

  it('goes on with a new log file after the old one was moved away', async () => {
    const container = await world().run('echo one; while [ ! -e /tmp/go ]; do sleep 0.05; done; echo two');
    await logged(container, 'stdout F one');
    const { logPath } = await container.status();
    await rename(logPath, `${logPath}.1`);
    await world().runtime.reopenLog(container.id);
    await world().runtime.run(container.id, { command: ['/bin/touch', '/tmp/go'], timeoutMs: 10_000, maxBytes: 100 });
    await container.ended();
    expect(await container.log()).toEqual(['stdout F two']);
    expect(await readFile(`${logPath}.1`, 'utf8')).toContain('stdout F one');
  });

  it('finds everything again after it was closed', async () => {
    const [running, ended, ending] = await Promise.all([
      world().run('echo up; sleep 1000'),
      world().run('exit 4'),
      world().run('while [ ! -e /tmp/go ]; do sleep 0.05; done; exit 5'),
    ]);
    await ended.ended();
    await world().runtime.run(ending.id, {
      command: ['/bin/sh', '-c', '(sleep 0.3; touch /tmp/go) >/dev/null 2>&1 &'],
      timeoutMs: 10_000,
      maxBytes: 100,
    });
    const before = await running.status();
    const sandboxes = await world().runtime.sandboxes();
    await world().reopen();
    expect(await running.status()).toEqual(before);
    expect(sorted(await world().runtime.sandboxes())).toEqual(sorted(sandboxes));
    expect(await ended.status()).toMatchObject({ state: 'exited', exitCode: 4 });
    expect(await ending.ended()).toMatchObject({ exitCode: 5 });
    const run = { command: ['/bin/echo', 'still here'], timeoutMs: 10_000, maxBytes: 100 };
    expect(String((await world().runtime.run(running.id, run)).stdout)).toBe('still here\n');
    await world().runtime.stopContainer(running.id, 0);
    expect(await running.status()).toMatchObject({ exitCode: 137 });
  });

  it('measures what containers use', async () => {
    const container = await world().run('i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done; echo counted; sleep 1000');
    // Just started, it may still be between two programs and have no memory at all.
    await logged(container, 'stdout F counted');
    const usage = await world().runtime.usage();
    expect(usage).toMatchObject([{ id: container.id }]);
    expect(usage[0]?.cpuNanoseconds).toBeGreaterThan(0);
    expect(usage[0]?.workingSet).toBeGreaterThan(0);
  });

  /** Waits for a line of the log: output is not a change of the runtime. */
  async function logged(container: { log(): Promise<string[]> }, line: string): Promise<void> {
    await expect.poll(() => container.log()).toContain(line);
  }
}

function sorted<T extends { readonly id: string }>(items: readonly T[]): T[] {
  return items.toSorted((a, b) => a.id.localeCompare(b.id));
}
