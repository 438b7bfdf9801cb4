import { describe, expect, it } from 'vitest';
import { managesDns, withFederation, withoutFederation } from './dns-config.ts';

const release = (text: string) => {
  const [major = '', minor = ''] = text.split('.');
  return { major, minor };
};

describe('rule 4: the DNS configuration of a cluster that joins', () => {
  it.each([
    ['1.5', '1.6', true],
    ['1.36', '1.36', true],
    ['1.7+', '1.6', true],
    ['2.0', '1.6', true],
    ['1.4', '1.6', false],
    ['1.36', '1.5', false],
    ['', '1.6', false],
  ])('of a cluster of release %s is managed by a tool of release %s: %s', (cluster, tool, managed) => {
    expect(managesDns(release(cluster), release(tool))).toBe(managed);
  });

  it('names each federation once, and is as before when it leaves', () => {
    expect(withFederation(undefined, 'fed=example.com')).toBe('fed=example.com');
    expect(withFederation('a=a.test, fed=old.test', 'fed=example.com')).toBe('a=a.test,fed=example.com');
    expect(withoutFederation('a=a.test,fed=example.com', 'fed')).toBe('a=a.test');
    expect(withoutFederation('fed=example.com', 'fed')).toBeUndefined();
  });
});
