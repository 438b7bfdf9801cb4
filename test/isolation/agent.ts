/** Attacks on the node agent through what a pod's specification says. */
import { mkdirSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { AttackedCluster } from './cluster.ts';
import { scratchOfNode } from './lab.ts';

/** What follows the zero byte would have been a step of a launcher, or another argument. */
const INJECTED = 'x\0exec\0sh\0-c\0echo injected';
const TIMEOUT_MS = 60_000;

const emptyDir = (name = 'data') => ({ name, emptyDir: {} });
const mounted = (mountPath: string, more: object = {}) => ({ name: 'data', mountPath, ...more });

export function describeAgent(cluster: () => AttackedCluster): void {
  const test = (name: string, run: () => Promise<void>) => it(name, run, TIMEOUT_MS);

  test('runs nothing of what follows a zero byte', async () => {
    const { qd } = cluster();
    const path = '/api/v1/namespaces/default/configmaps';
    await qd.request('POST', path, { body: { metadata: { name: 'hostile' }, data: { key: INJECTED } } });
    const containers = {
      value: { env: [{ name: 'Z', value: INJECTED }] },
      args: { args: [INJECTED] },
      'working-dir': { workingDir: `/${INJECTED}` },
      'config-map': { env: [{ name: 'Z', valueFrom: { configMapKeyRef: { name: 'hostile', key: 'key' } } }] },
      'mount-path': { volumeMounts: [mounted(`/${INJECTED}`)] },
      command: { command: ['sh', '-c', `echo out\0injected`] },
      message: { terminationMessagePath: `/tmp/${INJECTED}` },
    };
    const outcomes = await Promise.all(
      Object.entries(containers).map(async ([name, container]) => {
        const spec = { volumes: [emptyDir()] };
        return [name, await cluster().outcome({ name: `zero-${name}`, spec, container })] as const;
      }),
    );
    for (const [name, outcome] of outcomes) {
      expect(outcome, name).not.toHaveProperty('log');
      expect(outcome.rejected, name).toMatch(/zero byte|nul byte|null|NUL|Invalid value|invalid/i);
    }
    const control = { env: [{ name: 'Z', value: 'echo injected' }] };
    expect(await cluster().outcome({ name: 'control', script: '$Z', container: control })).toEqual({ log: 'injected' });
  });

  test('starts containers from no process that has the store open', async () => {
    const { qd, data } = cluster();
    await cluster().create({ name: 'long', script: 'exec sleep 1000' });
    await qd.until(cluster().pods(), ({ metadata, status }) => metadata.name === 'long' && status.phase === 'Running');
    const holders = processesWithFilesBelow(join(data, 'store'));
    expect(holders.filter((command) => command.includes('qd.js up')).length).toBeGreaterThan(0);
    expect(holders.filter((command) => !command.includes('qd.js up'))).toEqual([]);
  });

  test('mounts nothing over what belongs to the runtime, or outside of the root', async () => {
    const scratch = scratchOfNode();
    const paths = [
      '/proc',
      '/proc/sys',
      `/proc/self/cwd${scratch}/made`,
      `/../../../..${scratch}/made`,
      '/dev',
      '/sys',
    ];
    const outcomes = await Promise.all(
      paths.map(async (path, i) => {
        const spec = {
          volumes: [emptyDir()],
          initContainers: [
            {
              ...{ name: 'init', image: cluster().image, volumeMounts: [mounted('/data')] },
              command: ['sh', '-c', 'ln -s /proc/sys/kernel/core_pattern /data/null'],
            },
          ],
        };
        const script =
          'exec 2>&-; for f in /proc/interrupts /proc/keys /proc/timer_list; do [ -f $f ] && : >>$f && echo written; done; true';
        const container = { volumeMounts: [mounted(path)] };
        return [path, await cluster().outcome({ name: `path-${i}`, spec, script, container })] as const;
      }),
    );
    for (const [path, { log = '' }] of outcomes) expect(log, path).toBe('');
    expect(readdirSync(scratch)).toEqual([]);
  });

  test('follows no links that a pod has put into its volumes', async () => {
    const scratch = scratchOfNode();
    mkdirSync(join(scratch, 'directory'));
    const links = [`/proc/self/cwd${scratch}`, `../../../../../../../../../..${scratch}`];
    const ways: Record<string, object> = {
      'mount-below': { volumeMounts: [mounted('/data'), { name: 'other', mountPath: '/data/link/made' }] },
      'mount-at': { volumeMounts: [mounted('/data'), { name: 'other', mountPath: '/data/missing' }] },
      'sub-path': { volumeMounts: [mounted('/data', { subPath: 'link/made' })] },
      'sub-path-at': { volumeMounts: [mounted('/data', { subPath: 'link' })] },
      message: { volumeMounts: [mounted('/data')], terminationMessagePath: '/data/link/made' },
      'working-dir': { volumeMounts: [mounted('/data')], workingDir: '/data/link/made' },
    };
    const outcomes = await Promise.all(
      links.flatMap((link, i) =>
        Object.entries(ways).map(([way, container]) =>
          cluster().outcome({
            name: `link-${i}-${way}`,
            spec: {
              volumes: [emptyDir(), emptyDir('other')],
              initContainers: [
                {
                  ...{ name: 'init', image: cluster().image, volumeMounts: [mounted('/data')] },
                  command: ['sh', '-c', `ln -s ${link} /data/link; ln -s ${link}/made /data/missing`],
                },
              ],
            },
            script: 'ls /data/; echo message >/data/link/made; true',
            container,
          }),
        ),
      ),
    );
    for (const { log = '' } of outcomes) expect(log.split('\n')).not.toContain('directory');
    expect(readdirSync(scratch)).toEqual(['directory']);
  });
}

/** Command lines of the processes of the machine that have files of the directory open. */
function processesWithFilesBelow(directory: string): string[] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return pids.flatMap((pid) => {
    try {
      const files = readdirSync(`/proc/${pid}/fd`).map((fd) => linkOf(`/proc/${pid}/fd/${fd}`));
      if (!files.some((file) => file.startsWith(`${directory}/`))) return [];
      return [readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')];
    } catch {
      // The process has ended.
      return [];
    }
  });
}

function linkOf(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return '';
  }
}
