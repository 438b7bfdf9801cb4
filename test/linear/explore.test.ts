import { it } from 'vitest';
import { allKinds } from '../../src/kinds/all.ts';
import { collectionsIn } from '../kinds/lists-in.ts';
import { exampleOf, grow } from './grown.ts';
import { writePath } from './write-path.ts';

const BIG = Number(process.env.BIG ?? 10000);
const times = (kind: any, cs: any, n: number) => {
  const t = new Map<string, number>();
  const input = grow(exampleOf(kind), cs, n);
  const errors = writePath(kind, input, (step, action) => {
    const s = performance.now();
    try {
      return action();
    } finally {
      t.set(step, (t.get(step) ?? 0) + performance.now() - s);
    }
  });
  return { t, errors };
};
it('explore', () => {
  const only = process.env.ONLY?.split(',');
  for (const kind of allKinds) {
    if (only && !only.includes(kind.kind)) continue;
    for (const c of collectionsIn(kind.hub.schema)) {
      if (c.path.startsWith('metadata') && kind.kind !== 'ConfigMap') continue;
      if (/[tT]emplate\.(spec|metadata)/.test(c.path) && kind.kind !== 'StatefulSet' && !process.env.T) continue;
      try {
        const { t, errors } = times(kind, [c], BIG);
        const slow = [...t].filter(([, ms]) => ms > 40);
        let note = '';
        if (slow.length) {
          const a = times(kind, [c], BIG / 4).t;
          const b = times(kind, [c], BIG).t;
          const bad = slow.filter(([s]) => Math.min(b.get(s)!, t.get(s)!) > 6 * a.get(s)!);
          if (bad.length) note = bad.map(([s]) => `${s} ${a.get(s)!.toFixed(0)}->${b.get(s)!.toFixed(0)}`).join(', ');
        }
        if (note) console.log('SLOW', kind.kind, c.path, note);
        if (errors.length > 500 && process.env.ERR)
          console.log('ERR', kind.kind, c.path, errors.length, errors[0]!.slice(0, 150));
      } catch (e: any) {
        console.log('THROW', kind.kind, c.path, String(e.stack).slice(0, 300));
      }
    }
  }
}, 1e7);
