import { get } from 'node:https';

const TIMEOUT_MS = 10_000;
const MAX_BODY_BYTES = 1024 * 1024;

/** Fetches JSON from an https URL. `ca` are the authorities to trust, as PEM; default: those that Node trusts. */
export function fetchJson(url: string, ca: string | undefined): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const call = get(url, { timeout: TIMEOUT_MS, ...(ca === undefined ? {} : { ca }) }, (response) => {
      if (response.statusCode !== 200) {
        response.resume();
        return reject(new Error(`${url} answered ${response.statusCode}`));
      }
      const chunks: Buffer[] = [];
      let size = 0;
      response.on('data', (chunk: Buffer) => {
        size += chunk.length;
        if (size > MAX_BODY_BYTES) call.destroy(new Error(`${url} answered with more than ${MAX_BODY_BYTES} bytes`));
        else chunks.push(chunk);
      });
      response.on('error', reject);
      response.on('end', () => {
        try {
          resolve(JSON.parse(Buffer.concat(chunks).toString('utf8')));
        } catch (cause) {
          reject(new Error(`${url} did not answer with JSON`, { cause }));
        }
      });
    });
    call.on('timeout', () => call.destroy(new Error(`${url} did not answer in ${TIMEOUT_MS} ms`)));
    call.on('error', reject);
  });
}
