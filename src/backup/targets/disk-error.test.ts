import { expect, it } from 'vitest';
import { TargetError } from '../target.ts';
import { diskError } from './disk-error.ts';

const failing = (code: string, path?: string) => Object.assign(new Error(`${code}: failed`), { code, path });

it.each([
  ['ENOSPC', 'Full', /^\/backups: no space is left; remove old backups/],
  ['EDQUOT', 'Full', /no space is left/],
  ['EACCES', 'Denied', /^\/backups: no permission$/],
  ['EROFS', 'Denied', /the file system is read-only/],
  ['EIO', 'Unavailable', /EIO: failed/],
])('explains %s', (code, problem, message) => {
  const error = diskError('/backups', failing(code)) as TargetError;
  expect(error).toMatchObject({ name: 'TargetError', problem, cause: { code } });
  expect(error.message).toMatch(message);
});

it('names the file', () => {
  expect(diskError('/backups', failing('ENOENT', '/backups/a'))).toMatchObject({
    ...{ problem: 'NotFound', message: '/backups/a: it does not exist' },
  });
});

it('passes on the errors of others', () => {
  for (const error of [new Error('x'), new TargetError('Full', 'x'), failing('ERR_INVALID_ARG_TYPE')]) {
    expect(diskError('/backups', error)).toBe(error);
  }
});
