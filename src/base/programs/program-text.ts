import { readFileSync } from 'node:fs';

/** Reads a program for the shell or for Perl from the file beside its module. In bundles, the build replaces the call with the text. */
export function programText(file: URL): string {
  return readFileSync(file, 'utf8');
}
