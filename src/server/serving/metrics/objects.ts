import { head, labelsOf } from '../../../base/metrics/text.ts';
import type { Kind } from '../../../kinds/kind.ts';

type Counted = Pick<Kind, 'group' | 'plural' | 'verbs'>;

/** Reports whether a kind is stored: reviews can only be created, and computed kinds can only be read. */
const isStored = ({ verbs }: Counted) => !verbs || (verbs.includes('create') && verbs.includes('list'));

const BY_GROUP = 'apiserver_resource_objects';
/** The older name of the metric, which dashboards still use. Its label includes the group. */
const BY_RESOURCE = 'apiserver_storage_objects';

export class ObjectMetrics {
  constructor(
    private readonly kinds: () => Iterable<Counted>,
    private readonly count: (kind: Counted) => number,
  ) {}

  *lines(): Generator<string> {
    const counts = [...this.kinds()]
      .filter(isStored)
      .map((kind) => ({ group: kind.group, plural: kind.plural, count: this.count(kind) }));
    yield head(BY_GROUP, 'gauge', 'Number of stored objects by resource.');
    for (const { group, plural, count } of counts) {
      yield `${BY_GROUP}{${labelsOf({ group, resource: plural })}} ${count}`;
    }
    yield head(BY_RESOURCE, 'gauge', 'Number of stored objects by resource, as resource.group.');
    for (const { group, plural, count } of counts) {
      yield `${BY_RESOURCE}{${labelsOf({ resource: group ? `${plural}.${group}` : plural })}} ${count}`;
    }
  }
}
