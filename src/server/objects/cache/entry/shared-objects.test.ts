import { expect, it, vi } from 'vitest';
import type { KubeObject } from '../../../../kinds/kind.ts';
import { SharedObjects } from './shared-objects.ts';

const object = (name: string): KubeObject => ({ kind: 'ConfigMap', apiVersion: 'v1', metadata: { name } });

it('SharedObjects decodes bytes once, and other bytes with the same content again', () => {
  const shared = new SharedObjects();
  const bytes = Buffer.from('a');
  const first = shared.object(bytes, () => object('a'));
  const read = vi.fn(() => object('b'));
  expect(shared.object(bytes, read)).toBe(first);
  expect(read).not.toHaveBeenCalled();
  expect(shared.object(Buffer.from('a'), read)).toEqual(object('b'));
});

it('SharedObjects takes the metadata from a decoded object, and decodes it alone otherwise', () => {
  const shared = new SharedObjects();
  const [known, unknown] = [Buffer.from('a'), Buffer.from('b')];
  const { metadata } = shared.object(known, () => object('a'));
  const read = vi.fn(() => ({ name: 'b' }));
  expect(shared.metadata(known, read)).toBe(metadata);
  expect(shared.metadata(unknown, read)).toBe(shared.metadata(unknown, read));
  expect(read).toHaveBeenCalledOnce();
});
