/** Replaces authorities long before they expire, so that what trusts only the old one has years to learn of the new one. */
import { X509Certificate } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { readIfThere, writeWhole } from '../../base/files/own/files.ts';
import { AUTHORITY_RENEW_BEFORE_MS, blocksOf, CROSS, expiryOf, FRONT_PROXY_AUTHORITY_FILE } from './pki.ts';
import type { Rotatable } from './rotatable.ts';
import { type RotateOptions, rotate } from './rotate.ts';

const AUTHORITIES = [
  { file: 'ca.crt', what: 'authority' },
  { file: `${FRONT_PROXY_AUTHORITY_FILE}.crt`, what: 'front-proxy' },
] as const satisfies readonly { readonly file: string; readonly what: Rotatable }[];

/** Reports whether an authority is to be replaced, or one that was replaced has expired. */
export async function isRenewalDue({ directory, clock }: Pick<RotateOptions, 'directory' | 'clock'>): Promise<boolean> {
  const now = clock.now();
  const texts = await Promise.all(AUTHORITIES.map(({ file }) => readIfThere(join(directory, file))));
  return texts.some((text) => text !== undefined && (isDue(text, now) || hasExpired(text, now)));
}

/** Replaces the authorities that are due, and forgets those that have expired. */
export async function renewAuthorities(options: RotateOptions): Promise<void> {
  const { directory, clock } = options;
  const now = clock.now();
  for (const { file, what } of AUTHORITIES) {
    const text = await readIfThere(join(directory, file));
    if (text !== undefined && isDue(text, now)) await rotate(what, options);
    await forgetExpired(join(directory, file), now);
  }
  const cross = await readIfThere(join(directory, CROSS));
  if (cross && expiryOf(cross) <= now) await rm(join(directory, CROSS));
}

const isDue = (text: string, now: number) => expiryOf(text) - now <= AUTHORITY_RENEW_BEFORE_MS;

const hasExpired = (text: string, now: number) => blocksOf(text).some((each) => isExpired(each, now));
const isExpired = (pem: string, now: number) => Date.parse(new X509Certificate(pem).validTo) <= now;

async function forgetExpired(path: string, now: number): Promise<void> {
  const text = await readIfThere(path);
  if (text === undefined || !hasExpired(text, now)) return;
  await writeWhole(
    path,
    blocksOf(text)
      .filter((each, index) => index === 0 || !isExpired(each, now))
      .join(''),
  );
}
