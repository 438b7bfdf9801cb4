import { tmpdir } from 'node:os';
import { expect, test } from 'vitest';
import { ControlledClock } from '../../base/time/clock.ts';
import { Host } from './host.ts';
import { LocalMachine } from './local-machine.ts';

test('pressures follow from what was observed, and end some time later', async () => {
  const clock = new ControlledClock();
  const options = {
    host: new Host(),
    clock,
    describe: {
      directory: tmpdir(),
      maxPods: 1,
      reserved: {},
      architecture: 'x64',
      runtimeVersion: () => '',
      kubeletVersion: '',
    },
    directories: { node: tmpdir(), images: tmpdir() },
  };
  // No machine has as much memory.
  const machine = new LocalMachine({ ...options, thresholds: [{ signal: 'memory.available', least: 2 ** 60 }] });
  const pressed = () => machine.pressures().filter(({ isPressed }) => isPressed);
  expect(pressed()).toEqual([]);
  const { crossed, usage } = await machine.observe();
  expect(crossed).toHaveLength(1);
  expect(usage.cpuNanoseconds).toBeGreaterThan(0);
  expect(pressed()).toMatchObject([{ type: 'MemoryPressure', reason: 'KubeletHasInsufficientMemory' }]);
  await clock.advance(5 * 60_000);
  expect(pressed()).toEqual([]);
});
