/** Compares an answer with the recorded one, except for parts that differ from run to run. */

/** Replaces names, ids, times and addresses that no two runs share. */
export function normalise(value: unknown, namespace: string): unknown {
  const text = JSON.stringify(value)
    .replaceAll(`"${namespace}"`, '"NS"')
    .replaceAll(`/namespaces/${namespace}`, '/namespaces/NS')
    .replace(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, 'UID')
    .replace(/"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ"/g, '"TIME"')
    .replace(/"resourceVersion":"\d+"/g, '"resourceVersion":"RV"')
    .replace(/gen-[a-z0-9]{5}/g, 'gen-XXXXX')
    .replace(/10\.97\.\d+\.\d+(?=")/g, (address) => (address === '10.97.200.200' ? address : 'ADDRESS'))
    .replace(/"serverAddress":"[^"]*"/g, '"serverAddress":"SERVER"')
    .replace(/"nodePort":3\d{4}/g, '"nodePort":"PORT"');
  return sorted(JSON.parse(text));
}

/** Lists of objects and watch events in the order of their names: neither promises one. */
function sorted(value: any): any {
  const nameOf = (item: any) => item?.metadata?.name ?? item?.object?.metadata?.name ?? '';
  const byName = (a: any, b: any) => (nameOf(a) < nameOf(b) ? -1 : 1);
  if (Array.isArray(value)) return [...value].sort(byName);
  return Array.isArray(value?.items) ? { ...value, items: [...value.items].sort(byName) } : value;
}

/** Returns the differences between `ours` and `theirs` as lines; `isNewer` tells which further fields are expected. */
export function mismatches(theirs: unknown, ours: unknown, isNewer: (path: string) => boolean, path = ''): string[] {
  // The newer release leaves out null fields.
  if (theirs === null && ours === undefined) return [];
  if (!isObject(theirs) || !isObject(ours)) {
    return Object.is(theirs, ours) ? [] : [`${path}: ${JSON.stringify(theirs)} ≠ ${JSON.stringify(ours)}`];
  }
  const keys = new Set([...Object.keys(theirs), ...Object.keys(ours)]);
  return [...keys].flatMap((key) => {
    const at = path === '' ? key : `${path}.${key}`;
    if (!(key in theirs)) return isNewer(at) ? [] : [`${at}: only ours: ${JSON.stringify(ours[key])}`];
    return mismatches(theirs[key], ours[key], isNewer, at);
  });
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
