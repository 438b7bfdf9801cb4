import { expect, test } from 'vitest';
import { decide } from './choose-runtime.ts';

const found = { found: 'one that qd runs' };
const missing = { missing: 'containerd is not installed' };

test('containerd is chosen where it can be used, and processes elsewhere', () => {
  expect(decide(undefined, found)).toEqual({ runtime: 'containerd', why: 'one that qd runs' });
  expect(decide(undefined, missing)).toEqual({ runtime: 'process', why: 'containerd is not installed' });
});

test('pods are not switched to another runtime, whatever was installed meanwhile', () => {
  expect(decide('process', found)).toMatchObject({ runtime: 'process' });
  expect(decide('containerd', found)).toMatchObject({ runtime: 'containerd' });
});

test('a start is rejected when the containerd that runs the pods is gone', () => {
  expect(() => decide('containerd', missing)).toThrow(
    'run in containerd, which cannot be used any more: containerd is not installed; --runtime process',
  );
});
