/** `/logs/`: the log files of the machine. Links are followed within the directory only. */
import type { ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { ApiError } from '../../../api/errors.ts';
import { OpenDirectory } from '../../../base/files/inside/open-directory.ts';
import { openInside } from '../../../base/files/inside/open-inside.ts';
import { openReferredFile } from '../../../base/files/inside/regular-file.ts';
import type { FileHandle } from '../../../base/files/own/own-files.ts';

/** `path` is relative to the directory. Rejects with a NotFound. */
export async function sendLogFile(response: ServerResponse, directory: string, path: string): Promise<void> {
  if (path.includes('\0')) throw noSuchFile();
  const found = await openInside(directory, path, { links: 'beneath' }).catch(missing);
  try {
    if (!(await found.stat()).isDirectory()) return await sendFile(response, found);
    // Relative links would lead to the parent.
    if (path !== '' && !path.endsWith('/')) {
      const location = `${path.split('/').at(-1)!}/`;
      response.writeHead(301, { Location: encodeURIComponent(location).replace(/%2F$/, '/') }).end();
    } else await sendListing(response, new OpenDirectory(found));
  } finally {
    await found.close();
  }
}

async function sendFile(response: ServerResponse, found: FileHandle): Promise<void> {
  const file = await openReferredFile(found).catch(missing);
  if (!file) throw noSuchFile();
  try {
    const { size } = await file.stat();
    response.writeHead(200, { 'Content-Type': 'text/plain; charset=utf-8' });
    // A log may grow while it is read: what was there at the beginning is sent.
    const content = file.createReadStream({ end: Math.max(0, size - 1), autoClose: false });
    await pipeline(content, response).catch(() => undefined);
  } finally {
    await file.close();
  }
}

async function sendListing(response: ServerResponse, directory: OpenDirectory): Promise<void> {
  const names: string[] = [];
  for await (const entry of await directory.entries().catch(missing)) {
    names.push(entry.isDirectory() ? `${entry.name}/` : entry.name);
  }
  const lines = names.sort().map((name) => `<a href="${hrefOf(name)}">${escaped(name)}</a>\n`);
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
