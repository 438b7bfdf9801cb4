/** Zero bytes in what a pod says: strings of Linux end there, and nothing of what follows may be taken for something else. */
import { expect } from 'vitest';
import type { ContainerConfig } from '../../../src/node/runtime/container-config.ts';
import { attack, type Lab, promised, start, tryToRun } from '../lab.ts';

const INJECTED = 'x\0exec\0sh\0-c\0echo injected';

const PLACES: Readonly<Record<string, Partial<ContainerConfig>>> = {
  variable: { command: ['env'], env: [{ name: 'Z', value: INJECTED }] },
  'name of a variable': { command: ['env'], env: [{ name: `Z=${INJECTED}`, value: 'x' }] },
  command: { command: ['echo', INJECTED] },
  arguments: { command: ['echo'], args: [INJECTED] },
  'working directory': { command: ['pwd'], workingDirectory: `/${INJECTED}` },
  'path of a log': { command: ['true'], logPath: `main/${INJECTED}` },
};

export function describeZeroBytes(lab: Lab): void {
  promised(lab)('hide nothing that is executed, and nothing in further commands', async () => {
    const outcomes = Object.entries(PLACES).map(async ([place, changes]) => {
      const found = await tryToRun(lab, changes);
      return [place, found instanceof Error ? '' : found];
    });
    const nothing = Object.keys(PLACES).map((place) => [place, '']);
    expect(await Promise.all(outcomes)).toEqual(nothing);
    const { id } = await attack(lab, 'sleep 1000');
    const run = async (command: readonly string[]) =>
      String((await lab.world().runtime.run(id, { command, timeoutMs: 10_000, maxBytes: 1000 })).stdout);
    expect(await run(['echo', INJECTED]).catch(() => '')).toBe('');
    expect(await run(['echo', 'injected'])).toBe('injected\n');
  });

  promised(lab)('are the only ones that are rejected: other values arrive as they are', async () => {
    const value = 'x\n4\nexec\tsh "$(echo injected)" \u{1f600} \\0';
    const container = await start(lab, { command: ['sh', '-c', 'printf %s "$Z"'], env: [{ name: 'Z', value }] });
    expect(await container.output()).toBe(value);
  });
}
