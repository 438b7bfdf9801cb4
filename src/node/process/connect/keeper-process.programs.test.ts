import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { beforeEach, expect, it } from 'vitest';
import { temporaryDirectory } from '../../../../test/support/temporary-directory.ts';
import { connectKeeper } from './keeper-process.ts';

const KEEPER = [
  ...[process.execPath, '--import', import.meta.resolve('tsx')],
  fileURLToPath(new URL('../../../cli/entries/keeper.ts', import.meta.url)),
];

let directory: string;
beforeEach(() => {
  directory = temporaryDirectory();
});
it('a keeper with other settings is replaced, and its end is not that of the one in use', async () => {
  const connect = (podCidr: string, onClose: () => void) =>
    connectKeeper({ directory, name: `t${process.pid}k`, podCidr, keeper: KEEPER }, () => undefined, onClose);
  const events = new EventTarget();
  const firstClosed = once(events, 'first');
  let isClosed = false;
  const first = await connect('10.231.0.0/26', () => void events.dispatchEvent(new Event('first')));
  const second = await connect('10.231.0.64/26', () => {
    isClosed = true;
  });
  await firstClosed;
  expect(second.facts).toMatchObject({ podCidr: '10.231.0.64/26' });
  expect(second.facts.pid).not.toBe(first.facts.pid);
  expect(isClosed).toBe(false);
  // Nothing runs: it removes what it has made, and ends.
  second.connection.close();
  const isRunning = () => {
    try {
      return process.kill(second.facts.pid, 0);
    } catch {
      return false;
    }
  };
  await expect.poll(isRunning).toBe(false);
});
