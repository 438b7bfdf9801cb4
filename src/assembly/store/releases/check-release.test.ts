import { describe, expect, it } from 'vitest';
import { checkRelease } from './check-release.ts';

const own = { version: '0.2.1', level: 2 };

describe('a release is accepted on a store', () => {
  it.each([
    ['that is new', 0, undefined],
    ['of the same release', 2, '0.2'],
    ['of the release before it, at a lower level', 1, '0.1'],
    ['of the release after it, while that keeps the level', 2, '0.3'],
  ])('%s', (_, level, release) => {
    expect(() => checkRelease({ level, release }, own)).not.toThrow();
  });
});

describe('a release is rejected, with instructions, on a store', () => {
  it.each([
    [
      'of a higher level',
      3,
      '0.3',
      'the cluster in this store needs servers of level 3 and was last run by Quarterdeck 0.3, and this is Quarterdeck 0.2.1 of level 2; install Quarterdeck 0.3 here or, to go back, restore a snapshot that an earlier release saved. Nothing was changed',
    ],
    [
      'of a release that is too new',
      2,
      '0.4',
      'the cluster in this store was last run by Quarterdeck 0.4, and this is 0.2.1: releases that follow each other on a store differ by one minor version at most; install Quarterdeck 0.4 here. Nothing was changed',
    ],
    [
      'of a release that is too old',
      1,
      '0.0',
      'the cluster in this store was last run by Quarterdeck 0.0, and this is 0.3.0: releases that follow each other on a store differ by one minor version at most; first run the minor releases between them on all servers, one after the other. Nothing was changed',
    ],
  ])('%s', (_, level, release, message) => {
    const here = release === '0.0' ? { version: '0.3.0', level: 2 } : own;
    expect(() => checkRelease({ level, release }, here)).toThrow(message);
  });
});
