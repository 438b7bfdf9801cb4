/** Compares our published schemas with those of a release. */

type Tree = Readonly<Record<string, any>>;

/** Compares the definitions that can be reached from the objects that both know. */
export function compareDefinitions(ours: Tree, theirs: Tree): string[] {
  const found: string[] = [];
  const waiting = Object.keys(ours).filter((name) => theirs[name]?.['x-kubernetes-group-version-kind']);
  const seen = new Set(waiting);
  for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
    if (ours[name]) found.push(...compareDefinition(name, ours[name], theirs[name]));
    else found.push(`${name}: missing`);
    for (const next of references(theirs[name])) {
      if (seen.has(next)) continue;
      seen.add(next);
      waiting.push(next);
    }
  }
  return found.sort();
}

const OF_OPERATIONS = ['operationId', 'tags', 'x-kubernetes-action', 'x-kubernetes-group-version-kind'];

/** Compares the operations of the paths that both have. */
export function compareOperations(ours: Tree, theirs: Tree): string[] {
  const common = Object.keys(ours).filter((path) => theirs[path]);
  return common.flatMap((path) => {
    const methods = new Set([...Object.keys(ours[path]), ...Object.keys(theirs[path])]);
    methods.delete('parameters');
    return [...methods].flatMap((method) => {
      const place = `${method} ${path}`;
      const [mine, other] = [ours[path][method], theirs[path][method]];
      if (!mine || !other) return [`${place}: ${mine ? 'published nowhere' : 'missing'}`];
      return OF_OPERATIONS.flatMap((word) => difference(place, word, [mine[word], other[word]]));
    });
  });
}

function difference(place: string, word: string, [ours, theirs]: readonly [unknown, unknown]): string[] {
  const [left, right] = [JSON.stringify(ours), JSON.stringify(theirs)];
  return left === right ? [] : [`${place}: ${word}: ours ${left}, published ${right}`];
}

function compareDefinition(name: string, ours: Tree, theirs: Tree): string[] {
  const found = ['type', 'format', 'x-kubernetes-map-type'].flatMap((word) =>
    difference(name, word, [ours[word], theirs[word]]),
  );
  found.push(...difference(name, 'required', [sorted(ours.required), sorted(theirs.required)]));
  const properties = new Set([...Object.keys(ours.properties ?? {}), ...Object.keys(theirs.properties ?? {})]);
  for (const property of properties) {
    const place = `${name}.${property}`;
    const [mine, other] = [ours.properties?.[property], theirs.properties?.[property]];
    if (mine && other) found.push(...difference(place, 'schema', [wordsOf(mine), wordsOf(other)]));
    else found.push(`${place}: ${mine ? 'published nowhere' : 'missing'}`);
  }
  return found;
}

const sorted = (names: readonly string[] = []) => [...names].sort();

/**
 * Returns the properties of a field that clients see, in one order. Without a declaration, a list is atomic and a map
 * granular.
 */
function wordsOf(property: Tree): Tree {
  const extensions = Object.keys(property).filter((key) => key.startsWith('x-'));
  return {
    ref: property.$ref,
    type: property.type,
    format: property.format,
    items: property.items && wordsOf(property.items),
    values: property.additionalProperties && wordsOf(property.additionalProperties),
    ...(property.type === 'array' ? { 'x-kubernetes-list-type': 'atomic' } : {}),
    ...(property.additionalProperties ? { 'x-kubernetes-map-type': 'granular' } : {}),
    ...Object.fromEntries(extensions.sort().map((key) => [key, property[key]])),
  };
}

function* references(tree: unknown): Generator<string> {
  if (typeof tree !== 'object' || tree === null) return;
  for (const [key, value] of Object.entries(tree)) {
    if (key === '$ref' && typeof value === 'string') yield value.slice('#/definitions/'.length);
    else yield* references(value);
  }
}
