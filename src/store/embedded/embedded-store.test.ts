import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import { systemClock } from '../../base/clock.ts';
import { describeStore } from '../contract.ts';
import { openEmbeddedStore } from './open.ts';

const scratch = await mkdtemp(join(tmpdir(), 'store-'));
let count = 0;

afterAll(() => rm(scratch, { recursive: true, force: true }));

describeStore('embedded', () => openEmbeddedStore({ directory: join(scratch, String(++count)), clock: systemClock }));
