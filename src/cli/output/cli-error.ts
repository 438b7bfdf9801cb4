import { AssemblyError } from '../../assembly/assembly-error.ts';
import { fileProblem } from '../../base/files/file-problem.ts';
import { oneLine } from './one-line.ts';

/** A failure that one line explains to the user; the program prints it and exits with code 1. */
export class CliError extends Error {
  override readonly name = 'CliError';
}

/** Returns the line to print for an error: our own messages as they are, errors of the system with what they mean. */
export function explain(error: unknown): string {
  if (error instanceof CliError || error instanceof AssemblyError) return oneLine(error.message);
  const { code, path, message } = error as NodeJS.ErrnoException;
  switch (code) {
    case 'EACCES':
    case 'EPERM':
    case 'EROFS':
      return `no permission to ${code === 'EROFS' ? 'write' : 'read or write'} ${path ?? 'the data directory'} (${code}); choose another with --data-dir or --kubeconfig`;
    case 'ENOSPC':
      return `no space left on the disk${path ? ` for ${path}` : ''}`;
    case 'ENOENT':
    case 'EISDIR':
    case 'ENOTDIR':
      return path === undefined ? oneLine(message) : `${path} cannot be used: ${fileProblem(error)}`;
    default:
      return oneLine(message ?? String(error));
  }
}
