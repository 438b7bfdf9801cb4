import { expect, it } from 'vitest';
import { silent } from '../../../base/log.ts';
import { ControlledClock } from '../../../base/time/clock.ts';
import type { Resource } from '../registry/registry.ts';
import type { Selection } from './selection.ts';
import type { Member } from './watch-channel.ts';
import { Watches, type WatchesOptions } from './watches.ts';

const MB = 1024 * 1024;
const member = {} as Member;

function newWatches(): Watches {
  const listeners = new Set();
  return new Watches({
    ...({ cache: { onTurn: () => undefined, table: () => ({ listeners }) } } as unknown as WatchesOptions),
    ...({ registry: { onChange: () => undefined, serves: () => true } } as unknown as WatchesOptions),
    clock: new ControlledClock(0),
    log: silent,
  });
}

it('limits the length of the selectors of all watches together, but not of short ones', () => {
  const watches = newWatches();
  const resource = { kind: {}, version: {} } as Resource;
  const join = (selector: string) => {
    const selection = { text: selector, matches: () => true, reads: resource } as Selection;
    return watches.join({ resource, namespace: '', selection }, member)!;
  };
  const long = () => join('x'.repeat(MB));
  const [leave] = [long(), long()];
  expect(long).toThrow(expect.objectContaining({ reason: 'TooManyRequests' }));
  for (let i = 0; i < 100; i++) join('x'.repeat(250));
  leave();
  expect(long).not.toThrow();
  expect(long).toThrow();
});
