/** Serves the files below one directory over HTTP. */
import { createReadStream } from 'node:fs';
import { realpath, stat } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { extname, join, resolve, sep } from 'node:path';

const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain; charset=utf-8',
};

/** `path` is what follows the prefix, decoded. Symbolic links out of the directory are not followed. */
export async function serveFile(directory: string, path: string, outgoing: ServerResponse): Promise<void> {
  const file = await fileAt(directory, path);
  if (file === undefined) {
    outgoing.writeHead(404, { 'content-type': 'text/plain; charset=utf-8' });
    outgoing.end('404 page not found\n');
    return;
  }
  outgoing.writeHead(200, {
    'content-type': TYPES[extname(file.path)] ?? 'application/octet-stream',
    'content-length': file.size,
    'x-content-type-options': 'nosniff',
  });
  createReadStream(file.path)
    .on('error', () => outgoing.destroy())
    .pipe(outgoing);
}

async function fileAt(directory: string, path: string): Promise<{ path: string; size: number } | undefined> {
  try {
    const root = await realpath(directory);
    const found = await realpath(resolve(root, `.${sep}${path}`));
    if (found !== root && !found.startsWith(root + sep)) return undefined;
    const about = await stat(found);
    if (about.isFile()) return { path: found, size: about.size };
    const index = join(found, 'index.html');
    return { path: index, size: (await stat(index)).size };
  } catch {
    // Missing, unreadable or malformed: all answered with 404.
    return undefined;
  }
}
