/** A failure that one line explains to the person at the terminal; the program prints it and exits with code 1. */
export class CliError extends Error {
  override readonly name = 'CliError';
}

/** The line for what went wrong: ours as it is, the system's with what it means. */
export function explain(error: unknown): string {
  if (error instanceof CliError) return oneLine(error.message);
  const { code, path, message } = error as NodeJS.ErrnoException;
  switch (code) {
    case 'EACCES':
    case 'EPERM':
    case 'EROFS':
      return `no right to write ${path ?? 'here'} (${code}); choose another place with --data-dir or --kubeconfig`;
    case 'ENOSPC':
      return `no room left on the disk${path ? ` for ${path}` : ''}`;
    default:
      return oneLine(message ?? String(error));
  }
}

function oneLine(text: string): string {
  return text.replace(/\s*\n\s*/g, ' ').trim();
}
