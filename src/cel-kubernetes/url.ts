/** `url('https://example.com/path')`: URLs as Go reads them. */
import { member, plain, scansFirst } from '../cel/libraries/declare.ts';
import type { Library } from '../cel/library.ts';
import { BOOL, listType, mapType, opaqueType, STRING } from '../cel/types/type.ts';
import { fail } from '../cel/values/failure.ts';
import { OpaqueValue, type Value } from '../cel/values/value.ts';
import { nodesOf, reading, SIZED } from './costs.ts';

const TYPE = opaqueType('kubernetes.URL');

class UrlValue extends OpaqueValue {
  readonly type = TYPE;

  constructor(
    readonly text: string,
    readonly scheme: string,
    readonly host: string,
    readonly path: string,
    readonly query: string,
  ) {
    super();
  }

  equals({ text }: UrlValue): boolean {
    return this.text === text;
  }

  /** Size of the text that each function call looks at. */
  get size(): number {
    return this.text.length;
  }

  /** Host without the brackets of an IPv6 address. */
  get hostname(): string {
    return this.host.startsWith('[') ? this.host.slice(1, this.host.indexOf(']')) : this.host.replace(/:\d*$/, '');
  }

  get port(): string {
    return /:(\d*)$/.exec(this.host.startsWith('[') ? this.host.slice(this.host.indexOf(']')) : this.host)?.[1] ?? '';
  }
}

const HOST = /^(\[[0-9a-fA-F:.]+(%25[^\]]*)?\]|[^[\]:\s"<>\\^`{|}]*)(:\d*)?$/;

/** Returns a URL, or the error in the text. It must be absolute: a scheme, or a path that begins with a slash. */
export function readUrl(text: string): UrlValue | string {
  const wrong = (why: string) => `parse ${JSON.stringify(text)}: ${why}`;
  if (text === '') return wrong('empty url');
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
  if (/[\x00-\x1f\x7f]/.test(text)) return wrong('net/url: invalid control character in URL');
  const [head] = text.split('#', 1) as [string];
  const [, scheme = '', rest = head] = /^([a-zA-Z][a-zA-Z0-9+.-]*):(.*)$/s.exec(head) ?? [];
  if (scheme === '' && head.startsWith(':')) return wrong('missing protocol scheme');
  if (scheme === '' && !rest.startsWith('/')) return wrong('invalid URI for request');
  const mark = rest.indexOf('?');
  const before = mark < 0 ? rest : rest.slice(0, mark);
  const query = mark < 0 ? '' : rest.slice(mark + 1);
  // Text after a scheme without a slash is opaque.
  if (scheme !== '' && !before.startsWith('/')) return new UrlValue(text, scheme.toLowerCase(), '', '', query);
  const hasHost = before.startsWith('//') && (scheme !== '' || !before.startsWith('///'));
  const slash = hasHost ? before.indexOf('/', 2) : 0;
  const authority = hasHost ? before.slice(2, slash < 0 ? undefined : slash) : '';
  const path = slash < 0 ? '' : before.slice(slash);
  const host = authority.slice(authority.lastIndexOf('@') + 1);
  const bad = /%(?![0-9a-fA-F]{2}).{0,2}/s.exec(path + authority);
  if (bad) return wrong(`invalid URL escape ${JSON.stringify(bad[0])}`);
  if (!HOST.test(host)) return wrong(hostProblem(host));
  return new UrlValue(text, scheme.toLowerCase(), host, escapedPath(path), query);
}

function hostProblem(host: string): string {
  const port = /:([^:\]]*)$/.exec(host)?.[0];
  if (port && !/^:\d*$/.test(port)) return `invalid port ${JSON.stringify(port)} after host`;
  return /[\s"<>\\^`{|}]/.test(host)
    ? `invalid character ${JSON.stringify(/[\s"<>\\^`{|}]/.exec(host)![0])} in host name`
    : 'invalid host';
}

/** A path keeps its escapes; characters that need one get it. */
function escapedPath(path: string): string {
  return path.replace(/[^A-Za-z0-9\-._~!$&'()*+,/:;=@[\]%]/gu, (character) => encodeURIComponent(character));
}

function urlOf(text: string): UrlValue {
  const url = readUrl(text);
  return typeof url === 'string' ? fail(`URL parse error during conversion from string: ${url}`) : url;
}

/** Decodes escapes, which most texts do not have. */
function unescaped(text: string): string {
  return /[%+]/.test(text) ? decodeURIComponent(text.replaceAll('+', ' ')) : text;
}

/** Parts that are not escaped rightly are left out. */
function queryOf({ query }: UrlValue): Value {
  const found: Record<string, string[]> = Object.create(null);
  for (const part of query.split('&')) {
    if (part === '' || part.includes(';')) continue;
    const at = part.indexOf('=');
    const [name, value] = at < 0 ? [part, ''] : [part.slice(0, at), part.slice(at + 1)];
    try {
      const plainName = unescaped(name);
      const plainValue = unescaped(value);
      if (found[plainName]) found[plainName].push(plainValue);
      else found[plainName] = [plainValue];
    } catch (error) {
      if (!(error instanceof URIError)) throw error;
    }
  }
  return { ...found };
}

const accessor = (name: string, id: string, read: (url: UrlValue) => string) => ({
  name,
  overloads: [member(id, [TYPE], STRING, read, SIZED)],
});

const { costBefore, estimate } = reading();

export const URL_LIBRARY: Library = {
  name: 'kubernetes.urls',
  types: [TYPE],
  functions: [
    {
      name: 'url',
      overloads: [
        plain('string_to_url', [STRING], TYPE, urlOf, {
          costBefore: costBefore!,
          estimate: (call) => ({ ...estimate!(call)!, size: call.sizeOf(nodesOf(call)[0]!) }),
        }),
      ],
    },
    {
      name: 'isURL',
      overloads: [
        plain('is_url_string', [STRING], BOOL, (text) => typeof readUrl(text) !== 'string', { costBefore: scansFirst }),
      ],
    },
    accessor('getScheme', 'url_get_scheme', ({ scheme }) => scheme),
    accessor('getHost', 'url_get_host', ({ host }) => host),
    accessor('getHostname', 'url_get_hostname', ({ hostname }) => hostname),
    accessor('getPort', 'url_get_port', ({ port }) => port),
    accessor('getEscapedPath', 'url_get_escaped_path', ({ path }) => path),
    {
      name: 'getQuery',
      overloads: [member('url_get_query', [TYPE], mapType(STRING, listType(STRING)), queryOf, SIZED)],
    },
  ],
};
