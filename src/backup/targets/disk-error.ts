import { fileProblem } from '../../base/files/file-problem.ts';
import { TargetError, type TargetProblem } from '../target.ts';

const PROBLEMS: Readonly<Record<string, TargetProblem>> = {
  ENOENT: 'NotFound',
  EACCES: 'Denied',
  EPERM: 'Denied',
  EROFS: 'Denied',
  ENOSPC: 'Full',
  EDQUOT: 'Full',
  EFBIG: 'Full',
  ENOTDIR: 'Invalid',
  EISDIR: 'Invalid',
  ELOOP: 'Invalid',
  EEXIST: 'Invalid',
};

/** Explains the error of a file operation in a directory of backups; passes on all others. */
export function diskError(directory: string, error: unknown): unknown {
  const { code, path } = error as NodeJS.ErrnoException;
  if (error instanceof TargetError || code === undefined || !/^E[A-Z0-9]+$/.test(code)) return error;
  const problem = PROBLEMS[code] ?? 'Unavailable';
  return new TargetError(problem, `${path ?? directory}: ${explanation(code, error)}`, { cause: error });
}

function explanation(code: string, error: unknown): string {
  if (code === 'ENOSPC' || code === 'EDQUOT')
    return 'no space is left; remove old backups or choose another --backup-to';
  if (code === 'EROFS') return 'the file system is read-only';
  if (code === 'EACCES' || code === 'EPERM') return 'no permission';
  return fileProblem(error);
}
