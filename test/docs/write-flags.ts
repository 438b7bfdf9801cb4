/** `npm run flags`: brings the tables of flags in the documents up to date. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { filesBelow, root } from '../architecture/source.ts';
import { withTables } from './flags-table.ts';

for (const document of filesBelow('docs', '.md')) {
  const path = join(root, document);
  const text = readFileSync(path, 'utf8');
  const next = withTables(text);
  if (next === text) continue;
  writeFileSync(path, next);
  process.stdout.write(`${document}\n`);
}
