/** `/logs/`: the log files of the machine. Links are followed within the directory only. */
import { createReadStream } from 'node:fs';
import { readdir, realpath, stat } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { join, sep } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { ApiError } from '../../../base/errors.ts';

/** `path` is relative to the directory. Rejects with a NotFound. */
export async function sendLogFile(response: ServerResponse, directory: string, path: string): Promise<void> {
  const file = await inside(directory, path);
  const found = await stat(file).catch(missing);
  if (found.isDirectory()) {
    // Relative links would lead to the parent.
    if (path !== '' && !path.endsWith('/')) {
      const location = `${path.split('/').at(-1)!}/`;
      response.writeHead(301, { Location: encodeURIComponent(location).replace(/%2F$/, '/') }).end();
    } else await sendListing(response, file);
    return;
  }
  if (!found.isFile()) throw noSuchFile();
  response.writeHead(200, { 'Content-Type': 'text/plain; charset=utf-8' });
  // A log may grow while it is read: what was there at the beginning is sent.
  const content = createReadStream(file, { end: Math.max(0, found.size - 1) });
  await pipeline(content, response).catch(() => undefined);
}

async function inside(directory: string, path: string): Promise<string> {
  if (path.includes('\0')) throw noSuchFile();
  const [root, file] = await Promise.all([realpath(directory), realpath(join(directory, path))]).catch(missing);
  if (file !== root && !file.startsWith(root + sep)) throw noSuchFile();
  return file;
}

async function sendListing(response: ServerResponse, directory: string): Promise<void> {
  const entries = await readdir(directory, { withFileTypes: true }).catch(missing);
  const names = entries.map((entry) => (entry.isDirectory() ? `${entry.name}/` : entry.name)).sort();
  const lines = names.map((name) => `<a href="${hrefOf(name)}">${escaped(name)}</a>\n`);
  response.writeHead(200, { 'Content-Type': 'text/html; charset=utf-8' });
  response.end(
    `<!doctype html>\n<meta name="viewport" content="width=device-width">\n<pre>\n${lines.join('')}</pre>\n`,
  );
}

const hrefOf = (name: string) => `./${encodeURIComponent(name).replace(/%2F$/, '/')}`.replace(/^\.\/(?!.*:)/, '');
const escaped = (text: string) => text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);

const noSuchFile = () => new ApiError('NotFound', '404 page not found');

function missing(): never {
  throw noSuchFile();
}
