import { describe, expect, it } from 'vitest';
import { backendMissing, durableStores } from '../../support/store/backends.ts';
import { archiveRounds } from './rounds.ts';
import { type ArchiveEvidence, verdict, type Written } from './verdict.ts';

describe.each(durableStores)('a process that is killed, on %s', (store) => {
  const missing = backendMissing(store);
  it.skipIf(missing)('leaves an archive that has every acknowledged commit once, with its origin', async () => {
    const { problems, acknowledged, archived } = await archiveRounds({ store, rounds: 3, seed: 7 });
    expect(problems).toEqual([]);
    expect(acknowledged).toBeGreaterThan(50);
    expect(archived).toBeGreaterThan(20);
  });
});

describe('the verdict on an archive', () => {
  const written: Written = { id: '1', key: '/a', token: 't', isStatus: false, revision: 5 };
  const archived = { key: '/a', token: 't', revision: 5, request: '1', isStatus: false };
  const evidence: ArchiveEvidence = {
    issued: new Map([['1', written]]),
    acknowledged: new Map([['1', written]]),
    archived: [archived],
    states: new Map([[5, new Map([['/a', 't']])]]),
    present: new Map([['/a', 't']]),
  };

  it('accepts what was asked for', () => {
    expect(verdict(evidence)).toEqual([]);
  });

  it('misses a commit, an origin, and a state', () => {
    expect(verdict({ ...evidence, archived: [] }).join()).toContain('is not in the archive');
    expect(verdict({ ...evidence, archived: [archived, archived] }).join()).toContain('2 times');
    expect(verdict({ ...evidence, archived: [{ ...archived, request: undefined }] })).toHaveLength(2);
    expect(verdict({ ...evidence, states: new Map([[5, new Map()]]) }).join()).toContain('instead of t');
  });

  it('forgives a status change that another one has followed', () => {
    const [first, second] = [
      { ...written, isStatus: true },
      { ...written, id: '2', token: 'u', isStatus: true, revision: 6 },
    ];
    const both = new Map([first, second].map((each) => [each.id, each]));
    const last = { ...archived, token: 'u', revision: 6, request: '2', isStatus: true };
    const states = new Map([[6, new Map([['/a', 'u']])]]);
    const rest = { issued: both, acknowledged: both, states, present: new Map([['/a', 'u']]) };
    expect(verdict({ ...rest, archived: [last] })).toEqual([]);
    const spec = new Map([...both, ['1', { ...first, isStatus: false }]]);
    expect(verdict({ ...rest, archived: [last], acknowledged: spec })).toHaveLength(1);
  });
});
