import { s } from '../../../../schema/builders.ts';
import { type FieldError, invalid, required, under } from '../../../../schema/field-error.ts';
import { dnsSubdomain, portNumber } from '../../../../schema/names.ts';
import type { ObjectType, TypeOf } from '../../../../schema/schema.ts';
import { shortJson } from '../../../../schema/short-json.ts';

const HTTPS_PORT = 443;
const URL_FORMAT = '; desired format: https://host[/path]';

const service = {
  namespace: s.string('Namespace of the Service. Required.', { zero: true, required: true }),
  name: s.string('Name of the Service. Required.', { zero: true, required: true }),
  path: s.string('URL path that requests are sent to.', { rules: [pathIsValid] }),
  port: s.int32('Port of the Service, from 1 to 65535. Defaults to 443.', {
    default: HTTPS_PORT,
    rules: [portIsValid],
  }),
};

const client = {
  url: s.string(
    'URL of the webhook: https, without user, query and fragment. localhost means the machine of the API server. Exclusive ' +
      'with service.',
    { rules: [urlIsValid] },
  ),
  service: s.object('ServiceReference', 'Service in front of the webhook. Exclusive with url.', service),
  caBundle: s.bytes(
    'PEM bundle of the certificate authorities that the certificate of the webhook is verified with. Defaults to those of the machine.',
  ),
};

/** Address and certificates of a webhook. */
export const WebhookClientConfig = s.object(
  'WebhookClientConfig',
  'How to reach a webhook: by URL or through a Service, always with TLS.',
  client,
  { rules: [oneTarget] },
);
export type WebhookClientConfig = TypeOf<typeof WebhookClientConfig>;

/** Checks the client of a webhook that another schema describes; paths are relative to it. */
export function webhookClientErrors(config: Partial<ObjectType<typeof client>>): FieldError[] {
  const { url, service: to } = config;
  const wrong = oneTarget(config);
  if (wrong) return [wrong];
  if (url !== undefined) return under('url', urlIsValid(url));
  const { name = '', namespace = '', path = '', port = HTTPS_PORT } = to ?? {};
  return [
    ...(name ? [] : [required('service.name', 'service name is required')]),
    ...(namespace ? [] : [required('service.namespace', 'service namespace is required')]),
    ...under('service.port', portIsValid(port)),
    ...under('service.path', pathIsValid(path)),
  ];
}

function oneTarget({ url, service: to }: Partial<ObjectType<typeof client>>): FieldError | undefined {
  if ((url === undefined) !== (to === undefined)) return undefined;
  return required('', 'exactly one of url or service is required');
}

function portIsValid(port: number): FieldError[] {
  const problems = portNumber(port);
  return problems.length === 0 ? [] : [invalid('', port, `port is not valid: ${problems.join(', ')}`)];
}

function urlIsValid(text: string): FieldError[] {
  if (!URL.canParse(text)) {
    return [required('', `url must be a valid URL: parse ${shortJson(text)}${URL_FORMAT}`)];
  }
  const { protocol, host, username, password, hash, search } = new URL(text);
  const found: FieldError[] = [];
  const scheme = protocol.slice(0, -1);
  if (scheme !== 'https') found.push(invalid('', scheme, `'https' is the only allowed URL scheme${URL_FORMAT}`));
  if (!host) found.push(invalid('', host, `host must be specified${URL_FORMAT}`));
  if (username || password) found.push(invalid('', username, 'user information is not permitted in the URL'));
  if (hash) found.push(invalid('', hash.slice(1), 'fragments are not permitted in the URL'));
  if (search) found.push(invalid('', search.slice(1), 'query parameters are not permitted in the URL'));
  return found;
}

function pathIsValid(path: string): FieldError[] {
  if (path === '' || path === '/') return [];
  if (path === '//') return [invalid('', path, 'segment[0] may not be empty')];
  const found = path.startsWith('/') ? [] : [invalid('', path, "must start with a '/'")];
  for (const [index, segment] of path.slice(1).replace(/\/$/, '').split('/').entries()) {
    if (!segment) found.push(invalid('', path, `segment[${index}] may not be empty`));
    else for (const problem of dnsSubdomain(segment)) found.push(invalid('', path, `segment[${index}]: ${problem}`));
    // A long path may have thousands of them; the first is enough.
    if (found.length > 0) break;
  }
  return found;
}
