import { get } from 'node:https';

/** Milliseconds, and bytes: an issuer that says more is not one. */
const PATIENCE = 10_000;
const LARGEST = 1024 * 1024;

/** The JSON at an https address, read with the authorities given (PEM) or those that Node knows. */
export function fetchJson(url: string, ca: string | undefined): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const call = get(url, { timeout: PATIENCE, ...(ca === undefined ? {} : { ca }) }, (response) => {
      if (response.statusCode !== 200) {
        response.resume();
        return reject(new Error(`${url} answered ${response.statusCode}`));
      }
      const chunks: Buffer[] = [];
      let size = 0;
      response.on('data', (chunk: Buffer) => {
        size += chunk.length;
        if (size > LARGEST) call.destroy(new Error(`${url} answered with more than ${LARGEST} bytes`));
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
    call.on('timeout', () => call.destroy(new Error(`${url} did not answer in ${PATIENCE} ms`)));
    call.on('error', reject);
  });
}
