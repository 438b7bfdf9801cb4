import { expect, it } from 'vitest';
import { sameUndo } from './repeated.ts';

const flags = { namespace: 'default', to: undefined, dryRun: undefined, yes: undefined };
const cluster = { name: undefined, dataDir: undefined, context: undefined, kubeconfig: undefined };
const command = (more: object) =>
  sameUndo(
    { type: 'pod', name: 'web' } as never,
    { found: { namespaced: true } } as never,
    {
      ...{ ...flags, ...cluster, ...more },
    } as never,
  );

it('repeats the namespace of an object that is not in the default one', () => {
  expect(command({ namespace: 'shop' })).toBe('qd undo pod web -n shop');
});

it('names the cluster that the flags named', () => {
  expect(command({ context: 'dev' })).toBe('qd undo pod web --context dev');
  expect(command({ dataDir: '/data/dev' })).toBe('qd undo pod web --kubeconfig /data/dev/admin.kubeconfig');
  expect(command({})).toBe('qd undo pod web');
});
