import { beforeEach, expect, it } from 'vitest';
import { ControlledClock } from '../../../../base/time/clock.ts';
import type { Ask } from './ask.ts';
import { upgradeMachine } from './upgrade-machine.ts';

const SHA = 'a'.repeat(64);
const file = { content: Buffer.from('package'), sha256: SHA, release: { version: '0.2.0', level: 1 } };

let clock: ControlledClock;
beforeEach(() => {
  clock = new ControlledClock();
});

/** Resolves with the error of an upgrade, and with the minutes until then. */
const failure = async (report: () => object) => {
  const ask: Ask = async ({ method }) => (method === 'GET' ? report() : {});
  let isSettled = false;
  const settled = upgradeMachine(ask, { file, clock, timeoutMs: 600_000 })
    .then(
      () => 'none',
      ({ message }: Error) => message,
    )
    .finally(() => {
      isSettled = true;
    });
  const startedAt = clock.now();
  while (!isSettled) await clock.advance(500);
  return { message: await settled, minutes: (clock.now() - startedAt) / 60_000 };
};
const running = {
  version: '0.1.0',
  last: { package: SHA, from: '0.1.0', to: '0.2.0', state: 'running', message: 'x' },
};
const refused = () => {
  throw new Error('connect ECONNREFUSED');
};

it('gives a machine up that has been silent for longer than both releases may take', async () => {
  let asked = 0;
  const { message, minutes } = await failure(() => (asked++ < 3 ? running : refused()));
  expect(message).toContain('it has not answered for 5 minutes (connect ECONNREFUSED)');
  expect(minutes).toBeLessThan(6);
});

it('waits for a machine that answers now and then', async () => {
  const { message, minutes } = await failure(() => (clock.now() % 240_000 < 1_000 ? running : refused()));
  expect(message).toContain('the upgrade is not complete after 600 s');
  expect(minutes).toBeGreaterThan(9.9);
});

it('says at once how the upgrade has failed', async () => {
  const last = { ...running.last, state: 'failed', message: 'neither is ready' };
  expect(await failure(() => ({ ...running, last }))).toMatchObject({ message: 'neither is ready' });
});
