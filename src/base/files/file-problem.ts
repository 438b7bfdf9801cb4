/** Explains in one clause why a file could not be read, and what to do about it. */
export function fileProblem(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  switch (code) {
    case 'ENOENT':
      return 'it does not exist';
    case 'EISDIR':
      return 'it is a directory';
    case 'ENOTDIR':
      return 'a part of its path is not a directory';
    case 'EACCES':
    case 'EPERM':
      return 'no permission to read it';
    case 'ELOOP':
      return 'its symbolic links lead to each other';
    case 'ENAMETOOLONG':
      return 'its name is too long';
    default:
      return message ?? String(error);
  }
}
