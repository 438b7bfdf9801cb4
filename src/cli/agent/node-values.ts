/** Parsers for flags that describe a node. An empty text means none, so that a remembered value can be dropped. */
import type { Resources, Taint } from '../../assembly/node/node-config.ts';
import { FlagError } from '../../base/flag.ts';
import { parseQuantity, scaled } from '../../base/quantity.ts';
import { SIGNALS, type Signal } from '../../node/machine/observe.ts';
import type { Threshold } from '../../node/machine/pressure/thresholds.ts';

export type Mirrors = Readonly<Record<string, readonly string[]>>;

const RESERVED = ['cpu', 'memory', 'ephemeral-storage'];
const EFFECTS = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'];
const KEY = /^(?:[a-z0-9](?:[-.a-z0-9]{0,251}[a-z0-9])?\/)?[A-Za-z0-9](?:[-_.A-Za-z0-9]{0,61}[A-Za-z0-9])?$/;
const VALUE = /^(?:[A-Za-z0-9](?:[-_.A-Za-z0-9]{0,61}[A-Za-z0-9])?)?$/;
const SYSCTL = /^(?:[a-z0-9](?:[-_a-z0-9]*[a-z0-9])?[./])*(?:[a-z0-9][-_a-z0-9]*)?[a-z0-9*]$/;
const REGISTRY = /^[A-Za-z0-9](?:[-.A-Za-z0-9]*[A-Za-z0-9])?(?::\d{1,5})?$/;

/** `cpu=500m,memory=1Gi`. */
export function resources(text: string): Resources {
  return Object.fromEntries(
    items(text).map((item) => {
      const [name, amount] = pair(item, 'It must be amounts such as cpu=500m,memory=1Gi.');
      if (!RESERVED.includes(name)) throw new FlagError(`"${name}" is not one of ${RESERVED.join(', ')}.`);
      if (!isAmount(amount)) throw new FlagError(`"${amount}" is not a positive amount, such as 500m or 1Gi.`);
      return [name, amount];
    }),
  );
}

/** `disk=ssd,example.com/zone=a`. */
export function labels(text: string): Readonly<Record<string, string>> {
  return Object.fromEntries(
    items(text).map((item) => {
      const [key, value] = pair(item, 'It must be labels such as disk=ssd,zone=a.');
      if (!KEY.test(key) || !VALUE.test(value)) throw new FlagError(`"${item}" is not a label.`);
      return [key, value];
    }),
  );
}

/** `gpu=true:NoSchedule,old:PreferNoSchedule`. */
export function taints(text: string): readonly Taint[] {
  return items(text).map((item) => {
    const [, key = '', value, effect = ''] = /^([^=:]+)(?:=([^:]*))?:(\w+)$/.exec(item) ?? [];
    if (!KEY.test(key) || !VALUE.test(value ?? '') || !EFFECTS.includes(effect)) {
      throw new FlagError(`"${item}" is not a taint such as gpu=true:NoSchedule; effects are ${EFFECTS.join(', ')}.`);
    }
    return { key, value: value || undefined, effect };
  });
}

/** -1: no limit. */
export function pidsLimit(text: string): number {
  const limit = Number(text);
  if (!/^(?:-1|[1-9]\d{0,6})$/.test(text))
    throw new FlagError('It must be a number from 1 to 9999999, or -1 for no limit.');
  return limit;
}

/** Names of kernel parameters, of which the last part may be `*`. */
export function sysctls(text: string): readonly string[] {
  const wrong = items(text).find((name) => !SYSCTL.test(name));
  if (wrong !== undefined) throw new FlagError(`"${wrong}" is not the name of a kernel parameter.`);
  return items(text);
}

/** `memory.available<100Mi,nodefs.available<10%`. */
export function thresholds(text: string): readonly Threshold[] {
  return items(text).map((item) => {
    const [signal = '', least = ''] = item.split('<');
    if (!SIGNALS.includes(signal as Signal)) throw new FlagError(`"${signal}" is not one of ${SIGNALS.join(', ')}.`);
    const percent = /^(\d{1,2}(?:\.\d+)?)%$/.exec(least);
    if (!percent && !isAmount(least)) throw new FlagError(`"${item}" is not a threshold such as ${signal}<10%.`);
    const amount = percent ? { fraction: Number(percent[1]) / 100 } : Number(scaled(parseQuantity(least), 0));
    return { signal: signal as Signal, least: amount };
  });
}

/** `docker.io=https://mirror.example`. May be repeated: mirrors of a registry are asked in their order. */
export function mirrors(text: string, previous: Mirrors = {}): Mirrors {
  if (text === '') return {};
  const [registry, url] = pair(text, 'It must be a registry and a URL, such as docker.io=https://mirror.example.');
  if (!REGISTRY.test(registry)) throw new FlagError(`"${registry}" is not a registry, such as docker.io.`);
  if (!/^https?:\/\/[^/]/.test(url) || !URL.canParse(url))
    throw new FlagError(`"${url}" is not a URL with http or https.`);
  return { ...previous, [registry]: [...(previous[registry] ?? []), url] };
}

/** `registry.example:5000`. May be repeated. */
export function registries(text: string, previous: readonly string[] = []): readonly string[] {
  if (text === '') return [];
  if (!REGISTRY.test(text)) throw new FlagError('It must be a registry, such as registry.example:5000.');
  return [...previous, text];
}

function items(text: string): readonly string[] {
  if (text.trim() === '') return [];
  const found = text.split(',').map((item) => item.trim());
  if (found.includes('')) throw new FlagError('It must be values separated by commas.');
  return found;
}

function pair(item: string, problem: string): readonly [string, string] {
  const at = item.indexOf('=');
  if (at <= 0) throw new FlagError(problem);
  return [item.slice(0, at), item.slice(at + 1)];
}

function isAmount(text: string): boolean {
  try {
    return text !== '' && scaled(parseQuantity(text), 3) >= 0n;
  } catch {
    return false;
  }
}
