/** Program that is killed: writes with origins, and prints what was asked for and what was acknowledged. */
import { writeSync } from 'node:fs';
import { StoreConflict } from '../../../src/store/index.ts';
import { type Dice, dice } from '../random.ts';
import { type StoreSpec, valueWith } from '../stores.ts';
import { openBoth } from './opened.ts';
import type { Written } from './verdict.ts';

export type Line = { readonly say: 'ready' } | ({ readonly say: 'issued' | 'acknowledged' } & Written);

const WRITERS = 16;
const KEYS = 8;

const { spec, round, seed } = JSON.parse(process.argv[2] as string) as { spec: StoreSpec; round: number; seed: number };
const { store } = await openBoth(spec);
say({ say: 'ready' });
await Promise.all(Array.from({ length: WRITERS }, (_, i) => write(i, dice(seed + i))));

/** Writes without end to keys of its own, mostly their status. */
async function write(writer: number, next: Dice): Promise<void> {
  for (let n = 0; ; n++) {
    const key = `/own/${writer}/${next(KEYS)}`;
    const current = await store.get(key);
    const isStatus = current !== undefined && next(3) > 0;
    const token = current && !isStatus && next(4) === 0 ? null : `${round}.${writer}.${n}`;
    const written = { key, token, id: `${round}.${writer}.${n}`, isStatus, revision: 0 };
    const value = token === null ? null : valueWith(token, next(3000));
    say({ say: 'issued', ...written });
    try {
      const origin = { user: `writer-${writer}`, request: written.id, isStatus };
      const revision = await store.commit([{ key, value, expect: current?.revision ?? 0 }], [], origin);
      say({ say: 'acknowledged', ...written, revision });
    } catch (error) {
      if (!(error instanceof StoreConflict)) return;
    }
  }
}

function say(line: Line): void {
  const bytes = Buffer.from(`${JSON.stringify(line)}\n`);
  for (let sent = 0; sent < bytes.length; ) {
    try {
      sent += writeSync(1, bytes, sent);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error;
    }
  }
}
