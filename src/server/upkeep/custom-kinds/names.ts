/** Decides which names a definition gets. Each name is unique within its group. */
import type { NewCondition } from '../../../kinds/groups/extension/apiextensions/conditions.ts';
import type { CustomResourceDefinition } from '../../../kinds/groups/extension/apiextensions/custom-resource-definition.ts';

export type Names = CustomResourceDefinition['status']['acceptedNames'];

/** The names of the other definitions of the group. */
export interface TakenNames {
  /** Plurals, singulars and short names. */
  readonly resources: ReadonlySet<string>;
  readonly kinds: ReadonlySet<string>;
}

export interface NamesDecision {
  readonly names: Names;
  readonly condition: NewCondition;
}

/** Accepts free names one by one; the condition names the last conflict. */
export function decideNames(asked: Names, accepted: Names, taken: TakenNames): NamesDecision {
  const names: Names = { ...accepted };
  let conflict: Pick<NewCondition, 'reason' | 'message'> | undefined;
  const take = (field: 'plural' | 'singular' | 'kind' | 'listKind', reason: string, used: ReadonlySet<string>) => {
    const name = asked[field] ?? '';
    if (name === (accepted[field] ?? '') || !used.has(name)) names[field] = name;
    else conflict = { reason, message: inUse(name) };
  };
  take('plural', 'PluralConflict', taken.resources);
  take('singular', 'SingularConflict', taken.resources);
  const { shortNames = [], categories } = asked;
  const own = new Set(accepted.shortNames);
  const clashing = shortNames.filter((name) => !own.has(name) && taken.resources.has(name));
  if (clashing.length === 0) setList(names, 'shortNames', asked.shortNames);
  else conflict = { reason: 'ShortNamesConflict', message: aggregate(clashing.map(inUse)) };
  take('kind', 'KindConflict', taken.kinds);
  take('listKind', 'ListKindConflict', taken.kinds);
  setList(names, 'categories', categories);
  const condition: NewCondition = conflict
    ? { type: 'NamesAccepted', status: 'False', ...conflict }
    : { type: 'NamesAccepted', status: 'True', reason: 'NoConflicts', message: 'no conflicts found' };
  return { names, condition };
}

const inUse = (name: string) => `"${name}" is already in use`;

const aggregate = (texts: readonly string[]) => (texts.length === 1 ? texts[0]! : `[${texts.join(', ')}]`);

function setList(names: Names, field: 'shortNames' | 'categories', list: string[] | undefined): void {
  if (list?.length) names[field] = list;
  else delete names[field];
}
