/** Fields of a pod as the downward API shows them, in variables and in files. */
import type { SeenPod } from '../../pod/container-run.ts';
import { ContainerConfigError } from '../inputs.ts';

/** Fields of metadata, which both variables and files can show. */
export function metadataField({ metadata }: SeenPod, path: string): string {
  const subscript = /^(metadata\.(?:labels|annotations))\['(.*)'\]$/s.exec(path);
  if (subscript) {
    const map = subscript[1] === 'metadata.labels' ? metadata.labels : metadata.annotations;
    return own(map, subscript[2]!) ?? '';
  }
  switch (path) {
    case 'metadata.annotations':
      return formatMap(metadata.annotations);
    case 'metadata.labels':
      return formatMap(metadata.labels);
    case 'metadata.name':
      return metadata.name ?? '';
    case 'metadata.namespace':
      return metadata.namespace ?? '';
    case 'metadata.uid':
      return metadata.uid ?? '';
    default:
      throw new ContainerConfigError(`unsupported fieldPath: ${path}`);
  }
}

export interface Addresses {
  readonly podIPs: readonly string[];
  readonly hostIPs: readonly string[];
}

/** Fields that variables can show: those of metadata, and some that are known when the container starts. */
export function podField(pod: SeenPod, path: string, { podIPs, hostIPs }: Addresses): string {
  switch (path) {
    case 'spec.host':
    case 'spec.nodeName':
      return pod.spec.nodeName ?? '';
    case 'spec.serviceAccountName':
      return pod.spec.serviceAccountName ?? '';
    case 'status.hostIP':
      return hostIPs[0] ?? '';
    case 'status.hostIPs':
      return hostIPs.join(',');
    case 'status.podIP':
      return podIPs[0] ?? '';
    case 'status.podIPs':
      return podIPs.join(',');
    default:
      return metadataField(pod, path);
  }
}

/** One `key="value"` per line, sorted by key. */
function formatMap(map: Readonly<Record<string, string>> | undefined): string {
  const keys = Object.keys(map ?? {}).sort(byBytes);
  return keys.map((key) => `${key}=${quoteText(map![key]!)}`).join('\n');
}

const byBytes = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b));

const own = (map: Readonly<Record<string, string>> | undefined, key: string): string | undefined =>
  map && Object.hasOwn(map, key) ? map[key] : undefined;

const SHORT: Readonly<Record<string, string>> = {
  '\x07': '\\a',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\v': '\\v',
  '"': '\\"',
  '\\': '\\\\',
};

/** Characters that are not printed as they are: all but letters, marks, numbers, punctuation, symbols and the space. */
const ESCAPED = /["\\]|(?! )[^\p{L}\p{M}\p{N}\p{P}\p{S}]/gu;

/** Quotes a text as Go does, because the files of the downward API are read by programs that expect it. */
export function quoteText(text: string): string {
  return `"${text.replace(ESCAPED, escapeCharacter)}"`;
}

function escapeCharacter(character: string): string {
  const short = SHORT[character];
  if (short !== undefined) return short;
  const code = character.codePointAt(0)!;
  const hex = code.toString(16);
  if (code < 0x20 || code === 0x7f) return `\\x${hex.padStart(2, '0')}`;
  return code > 0xffff ? `\\U${hex.padStart(8, '0')}` : `\\u${hex.padStart(4, '0')}`;
}
