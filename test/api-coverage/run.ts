/** `npm run coverage`: writes docs/api-coverage.md anew. */
import { writeFileSync } from 'node:fs';
import { referenceDirectory } from '../kinds/published.ts';
import { coveragePage, PAGE } from './page.ts';

const directory = referenceDirectory();
if (directory) {
  writeFileSync(PAGE, await coveragePage(directory));
  console.log('docs/api-coverage.md is written');
} else {
  console.error(
    'no published schemas: QUARTERDECK_REFERENCE names the directory of openapi-1.36.json and openapi-1.7.json',
  );
  process.exitCode = 1;
}
