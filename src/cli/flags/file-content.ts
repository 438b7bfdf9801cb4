/** Reads the files that flags name. */
import { readFile } from 'node:fs/promises';
import { fileProblem } from '../../base/files/file-problem.ts';
import { CliError } from '../output/cli-error.ts';

/** Rejects with an error that names the flag and the file. `parse` throws when the content cannot be used. */
export async function fromFile<T>(flag: string, file: string, parse: (text: string) => T): Promise<T> {
  try {
    return parse(await readFile(file, 'utf8'));
  } catch (cause) {
    throw new CliError(`${flag} ${file} cannot be used: ${fileProblem(cause)}`, { cause });
  }
}

/** Content of a file that must have certificates. */
export function certificates(text: string): string {
  if (!text.includes('-----BEGIN CERTIFICATE-----')) throw new Error('it has no PEM certificate');
  return text;
}
