import { describe, expect, it } from 'vitest';
import { type Evidence, Ledger, type SeenChange, verify } from './verifier.ts';

/** Two creations, an update that was acknowledged, and a deletion that was not. */
function story(): { ledger: Ledger; evidence: Evidence } {
  const ledger = new Ledger();
  const operation = (id: string, writes: [string, string | null][]) =>
    ledger.issued.set(id, { id, writes: writes.map(([key, token]) => ({ key, token })) });
  operation('1', [['/a', 'a1']]);
  operation('2', [
    ['/b', 'b1'],
    ['/c', 'c1'],
  ]);
  operation('3', [['/a', 'a2']]);
  operation('4', [['/b', null]]);
  operation('5', [['/a', 'a3']]);
  operation('6', [['/d', 'd1']]);
  for (const [id, revision] of [
    ['1', 11],
    ['2', 12],
    ['3', 13],
  ] as const) {
    ledger.acknowledged.set(id, revision);
  }
  ledger.rejected.add('5');
  const log: SeenChange[] = [
    { key: '/a', revision: 11, token: 'a1', previous: { token: 'a0', revision: 4 } },
    { key: '/b', revision: 12, token: 'b1', previous: undefined },
    { key: '/c', revision: 12, token: 'c1', previous: undefined },
    { key: '/a', revision: 13, token: 'a2', previous: { token: 'a1', revision: 11 } },
    { key: '/b', revision: 14, token: null, previous: { token: 'b1', revision: 12 } },
  ];
  ledger.told.push(...log.slice(0, 4));
  return {
    ledger,
    evidence: {
      before: [{ key: '/a', token: 'a0', revision: 4 }],
      start: 10,
      rows: [
        { key: '/a', token: 'a2', revision: 13 },
        { key: '/c', token: 'c1', revision: 12 },
      ],
      revision: 14,
      resumed: log.slice(3),
      resumedAfter: 12,
      replayed: log.slice(1),
      replayedAfter: 11,
    },
  };
}

describe('the verifier', () => {
  it('finds no problem in a correct store', () => {
    const { ledger, evidence } = story();
    expect(verify(ledger, evidence)).toEqual([]);
  });

  const broken: [string, (evidence: Evidence, ledger: Ledger) => Evidence, RegExp][] = [
    ['an acknowledged write that is lost', (e) => without(e, 13), /operation 3 at 13: \/a was written at undefined/],
    ['a watch that skips', (e) => ({ ...e, resumed: e.resumed.slice(1) }), /no watch told of \/a=a2@13/],
    [
      'a watch that repeats',
      (e, l) => ({ ...e, resumed: [...l.told.slice(2, 3), ...e.resumed] }),
      /\/c was told twice/,
    ],
    ['a change that was told and is gone', (e) => without(e, 13), /told, and then gone: \/a=a2@13/],
    ['half of an operation', (e, l) => halve(e, l), /operation 2 at 12: \/c was written at undefined/],
    ['a rejected operation that happened', (e, l) => reject(e, l), /operation 3 was rejected, and happened/],
    ['a state that is not what was told', (e) => ({ ...e, rows: e.rows.slice(1) }), /\/a is gone; watches told of a2/],
    ['a revision that goes back', (e) => ({ ...e, revision: 12 }), /the store is at 12, but 14 was seen/],
    ['a write that nobody asked for', (e, l) => forget(e, l), /nobody asked for \/a=a2@13/],
  ];

  it.each(broken)('sees %s', (_, breakIt, problem) => {
    const { ledger, evidence } = story();
    const problems = verify(ledger, breakIt(evidence, ledger));
    expect(problems.join('\n')).toMatch(problem);
  });
});

function without(evidence: Evidence, revision: number): Evidence {
  const kept = (change: SeenChange) => change.revision !== revision;
  return { ...evidence, resumed: evidence.resumed.filter(kept), replayed: evidence.replayed.filter(kept) };
}

function halve(evidence: Evidence, ledger: Ledger): Evidence {
  ledger.told.splice(2, 1);
  const kept = (change: { key: string }) => change.key !== '/c';
  return { ...evidence, rows: evidence.rows.filter(kept), replayed: evidence.replayed.filter(kept) };
}

function reject(evidence: Evidence, ledger: Ledger): Evidence {
  ledger.rejected.add('3');
  return evidence;
}

function forget(evidence: Evidence, ledger: Ledger): Evidence {
  ledger.issued.delete('3');
  return evidence;
}
