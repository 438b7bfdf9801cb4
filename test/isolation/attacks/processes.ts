/** Processes of the node and of other pods: neither seen nor signalled. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { expect } from 'vitest';
import { allFailed, attack, attempt, DEFAULT_SECURITY, type Lab, promised } from '../lab.ts';

const SLEEP = '98765';

/** Runs a process of the node, of this test's user, for a while. */
async function withProcessOfNode(use: (pid: number) => Promise<void>): Promise<void> {
  const child = spawn('sleep', [SLEEP], { stdio: 'ignore' });
  await once(child, 'spawn');
  try {
    await use(child.pid!);
    expect(child.exitCode ?? child.signalCode).toBe(null);
  } finally {
    child.kill('SIGKILL');
    await once(child, 'exit');
  }
}

const signals = (pid: number) => ({
  [`signal ${pid}`]: `kill -0 ${pid}`,
  [`variables of ${pid}`]: `head -c 1 /proc/${pid}/environ`,
  [`memory of ${pid}`]: `: </proc/${pid}/mem`,
  [`files of ${pid}`]: `ls /proc/${pid}/root/ /proc/${pid}/fd/`,
});

export function describeProcesses(lab: Lab): void {
  promised(lab, 'another user')('of the node cannot be signalled or read', () =>
    withProcessOfNode(async (pid) => {
      const attacks = signals(pid);
      expect(await attempt(lab, attacks)).toEqual(allFailed(attacks));
    }),
  );

  promised(lab, 'containers')('of the node and of other pods are not seen', () =>
    withProcessOfNode(async () => {
      const secret = `secret-of-${process.pid}`;
      const env = [{ name: 'SECRET', value: secret }];
      const victim = await attack(lab, `exec sleep ${SLEEP}`, { env });
      const script = 'cat /proc/[0-9]*/cmdline /proc/[0-9]*/environ | tr "\\000" " "; echo; echo alive';
      const output = await (await attack(lab, script)).output();
      expect(output).toContain('alive');
      expect(output).not.toContain(SLEEP);
      expect(output).not.toContain(secret);
      expect(await lab.world().runtime.container(victim.id)).toMatchObject({ state: 'running' });
    }),
  );

  promised(lab, 'containers')('of the node are seen by a pod that shares them', () =>
    withProcessOfNode(async (pid) => {
      const sandbox = lab.world().sandbox();
      const shared = { ...sandbox, namespaces: { ...sandbox.namespaces, pid: 'node', user: undefined } as const };
      const security = { ...DEFAULT_SECURITY, pid: 'node' } as const;
      const container = await attack(lab, `tr "\\000" " " </proc/${pid}/cmdline`, { security }, shared);
      expect(await container.output()).toContain(SLEEP);
    }),
  );

  promised(lab, 'containers')('that a pod shares are those of its own containers', async () => {
    const { world } = lab;
    const inPod = () => {
      const sandbox = world().sandbox();
      return { ...sandbox, namespaces: { ...sandbox.namespaces, pid: 'pod' } as const };
    };
    const security = { ...DEFAULT_SECURITY, pid: 'pod' } as const;
    await attack(lab, 'exec sleep 11111', { security }, inPod());
    const own = inPod();
    const { sandboxId } = await attack(lab, 'exec sleep 22222', { security }, own);
    const script =
      'until grep -q 22222 /proc/[0-9]*/cmdline; do sleep 0.05; done; cat /proc/[0-9]*/cmdline | tr "\\000" " "';
    const second = world().container({
      ...{ ...lab.attacker(), name: 'second', security, workingDirectory: '/' },
      command: ['sh', '-c', script.replace('-q 22222', "-q '22[2]22'")],
    });
    const id = await world().runtime.createContainer(sandboxId, second, own);
    await world().runtime.startContainer(id);
    await world().until(async () => ((await world().runtime.container(id))?.state === 'exited' ? true : undefined));
    const output = await outputOf(lab, id);
    expect(output).toContain('sleep 22222');
    expect(output).not.toContain('11111');
  });
}

async function outputOf(lab: Lab, id: string): Promise<string> {
  return readFile((await lab.world().runtime.container(id))!.logPath, 'utf8');
}
