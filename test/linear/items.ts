/** Makes items for long lists: any number, each different, and valid as far as the names of their fields tell. */
import { clone, isTree } from '../../src/base/json/tree.ts';
import type { ListSchema, MapSchema, ObjectSchema, Schema } from '../../src/schema/schema.ts';

/** `count` items of a list, or entries of a map. `example` is an item that is known to be valid. */
export function itemsOf(schema: ListSchema | MapSchema, count: number, field: string, example?: unknown): unknown {
  if (schema.type === 'list') {
    const keys = new Set([...(schema.keys ?? []), ...(typeof schema.merge === 'string' ? [schema.merge] : [])]);
    return Array.from({ length: count }, (_, i) => itemOf(schema.items, { i, field, keys, example }));
  }
  const values = Array.from({ length: count }, (_, i) => itemOf(schema.values, { i, field, keys: NO_KEYS, example }));
  return Object.fromEntries(values.map((value, i) => [field === 'extra' ? `k${i}` : `example.com/k-${i}`, value]));
}

const NO_KEYS: ReadonlySet<string> = new Set();

interface Making {
  readonly i: number;
  readonly field: string;
  /** Fields that identify the item. */
  readonly keys: ReadonlySet<string>;
  readonly example?: unknown;
}

function itemOf(schema: Schema, making: Making): unknown {
  switch (schema.type) {
    case 'object':
      return objectOf(schema, making);
    case 'lazy':
      return itemOf(schema.resolve(), making);
    case 'list':
      return [itemOf(schema.items, { ...making, example: undefined })];
    case 'map':
      return {};
    case 'any':
      return { [`k${making.i}`]: 1 };
    default:
      return scalarOf(schema, making);
  }
}

/** Fields that make an item differ from the others. */
const NAMES = new Set(['name', 'key', 'ip', 'path', 'mountPath', 'devicePath', 'uid', 'topologyKey', 'ip', 'cidr']);

function objectOf(schema: ObjectSchema, making: Making): object {
  const { example, keys } = making;
  const out: Record<string, unknown> = isTree(example) ? clone(example) : {};
  for (const [field, child] of Object.entries(schema.fields)) {
    const differs = keys.has(field) || NAMES.has(field);
    const wanted = child.required || child.zero || field === 'image';
    if (out[field] !== undefined ? !differs : !(differs || wanted)) continue;
    if (child.default !== undefined && !keys.has(field)) continue;
    const before = out[field];
    if (typeof before === 'object' && before !== null) continue;
    out[field] = itemOf(child, { i: making.i, field, keys: NO_KEYS });
  }
  return out;
}

function scalarOf(schema: Schema, { i, field }: Making): unknown {
  switch (schema.type) {
    case 'string':
      return textOf(schema.format, schema.enum, i, field);
    case 'integer':
      return Math.min(schema.max ?? 65_535, Math.max(schema.min ?? 0, (i % 65_535) + 1));
    case 'number':
      return i;
    case 'boolean':
      return true;
    default:
      return (i % 65_535) + 1;
  }
}

const ADDRESS = /(^|[a-z])(ip|IP|ips|IPs|addresses|address)$/;
const RANGE = /cidr|CIDR|Ranges|except/;

function textOf(format: string | undefined, words: readonly string[] | undefined, i: number, field: string): string {
  if (words) return words[i % words.length]!;
  switch (format) {
    case 'time':
      return '2026-01-02T03:04:05Z';
    case 'microTime':
      return '2026-01-02T03:04:05.000006Z';
    case 'quantity':
      // Few distinct ones: the parsed values of many would not fit into the cache of quantities, which costs time but no rule.
      return String((i % 100) + 1);
    case 'bytes':
      return 'AAE=';
    case 'duration':
      return '1m0s';
    default:
  }
  const octets = `10.${(i >> 16) & 255}.${(i >> 8) & 255}.${i & 255}`;
  if (RANGE.test(field)) return `${octets}/32`;
  if (ADDRESS.test(field)) return octets;
  const fixed = FIXED[field];
  if (fixed !== undefined) return fixed;
  if (/[pP]ath$/.test(field)) return `/p${i}`;
  if (/finalizers|Conditions?$|topologyKeys|topologyKey|conditionType/.test(field)) return `example.com/x-${i}`;
  return `x-${i}`;
}

const FIXED: Readonly<Record<string, string>> = {
  apiVersion: 'v1',
  operator: 'Exists',
  status: 'True',
  image: 'busybox:1.36',
  effect: 'NoSchedule',
  whenUnsatisfiable: 'DoNotSchedule',
  protocol: 'TCP',
  pathType: 'Prefix',
  ipFamilies: 'IPv4',
  accessModes: 'ReadWriteOnce',
  usages: 'client auth',
  scopes: 'NotTerminating',
  scopeName: 'NotTerminating',
  policyTypes: 'Ingress',
  dryRun: 'All',
};
