import { expect, test } from 'vitest';
import { existingFiles } from './connection.ts';
import { defaultKubeconfig } from './kubeconfig-files.ts';

const there =
  (...files: string[]) =>
  (file: string) =>
    files.includes(file);

test('missing files of KUBECONFIG are skipped, as kubectl does', () => {
  expect(existingFiles(undefined, { KUBECONFIG: '/a:/b:/c' }, there('/b', '/c'))).toEqual(['/b', '/c']);
  expect(existingFiles('/d', { KUBECONFIG: '/a' }, there('/a', '/d'))).toEqual(['/d']);
  expect(existingFiles(undefined, {}, there(defaultKubeconfig()))).toEqual([defaultKubeconfig()]);
});

test.each([
  [
    undefined,
    '/a',
    '/a, which KUBECONFIG names, does not exist; qd up creates it, and --kubeconfig FILE names another',
  ],
  [undefined, '/a:/b', 'none of the files that KUBECONFIG names exists: /a, /b'],
  [undefined, '', `${defaultKubeconfig()} does not exist; qd up creates it`],
  ['/d', '/a', '--kubeconfig /d does not exist'],
])('when none exists, it says so: --kubeconfig %s, KUBECONFIG=%s', (given, KUBECONFIG, message) => {
  expect(() => existingFiles(given, { KUBECONFIG }, () => false)).toThrow(message);
});
