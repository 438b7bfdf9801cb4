import { describe, expect, it } from 'vitest';
import { allKinds } from '../../src/kinds/all.ts';
import { Service } from '../../src/kinds/groups/core/service/service.ts';
import type { Kind } from '../../src/kinds/kind.ts';
import { duplicate } from '../../src/schema/field-error.ts';
import { type Collection, collectionsIn } from '../kinds/lists-in.ts';
import { ITEMS_AGAIN, quadratic, takesProportionalTime } from './doubling.ts';

describe('the measure', () => {
  const searching: Kind = {
    ...(Service as Kind),
    rules: [({ spec }: any) => spec.ports.filter(isRepeated).map(() => duplicate('spec.ports', ''))],
  };
  const isPorts = ({ path }: Collection) => path === 'spec.ports';

  /** Takes so long that comparing is most of a step's work, whatever else the machine is busy with. */
  const keyOf = ({ protocol, port }: any) => JSON.stringify([protocol, port]);

  /** Searches the whole list for every item, with a key for each comparison, as a careless rule does. */
  function isRepeated(port: any, index: number, ports: readonly any[]): boolean {
    return ports.findIndex((each) => keyOf(each) === keyOf(port)) < index;
  }

  it('finds a rule that searches a list for each of its items', () => {
    const ports = collectionsIn(Service.hub.schema).filter(isPorts);
    expect(ports).toHaveLength(1);
    expect(quadratic(searching, ports, ITEMS_AGAIN)).toContainEqual(expect.stringMatching(/^(create|update|status): /));
  }, 600_000);
});

takesProportionalTime(allKinds.filter(({ group }) => group === ''));
