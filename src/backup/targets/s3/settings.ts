/** Settings of a bucket: from `--backup-to`, the environment and the files of the AWS tools, in this order. */
import { rootCertificates } from 'node:tls';
import { fileProblem } from '../../../base/files/file-problem.ts';
import { readFile } from '../../../base/files/own/own-files.ts';
import { isHttpUrl } from '../../../base/http/http-url.ts';
import type { AwsKeys } from '../../../protocols/aws/signature.ts';
import { TargetError } from '../../target.ts';
import { type AwsEnvironment, keysSource, profileSetting, readKeys } from './profile.ts';

export interface S3Settings {
  readonly bucket: string;
  /** Empty, or a path that ends with a slash. */
  readonly prefix: string;
  /** URL of the server, without the bucket. */
  readonly endpoint: string;
  readonly region: string;
  /** `path`: ENDPOINT/BUCKET/KEY. `virtual`: the bucket is a part of the host name. */
  readonly style: 'path' | 'virtual';
  /** PEM of the authorities for the server's certificate; undefined for those of the system. */
  readonly ca?: readonly string[] | undefined;
  /** Reads the keys that are valid now. */
  readonly keys: () => Promise<AwsKeys>;
  /** Source of the keys, for messages. */
  readonly keysFrom: string;
}

const FORM = 's3://BUCKET[/PREFIX][?endpoint=URL&region=REGION&style=path|virtual&ca=FILE]';
const PARAMETERS = ['endpoint', 'region', 'style', 'ca'];
const BUCKET = /^[A-Za-z0-9][A-Za-z0-9._-]{1,61}[A-Za-z0-9]$/;
/** Names that are a part of a host name, which a certificate covers. */
const HOST_BUCKET = /^[a-z0-9][a-z0-9-]+[a-z0-9]$/;
const PREFIX_PART = /^(?!\.\.?$)[A-Za-z0-9._=@-]+$/;
const REGION = /^[a-z0-9-]{1,50}$/;
const DEFAULT_REGION = 'us-east-1';

export async function readSettings(location: string, environment: AwsEnvironment): Promise<S3Settings> {
  const { bucket, prefix, parameters } = parseLocation(location);
  const { variables } = environment;
  const region =
    parameters.get('region') ||
    variables.AWS_REGION ||
    variables.AWS_DEFAULT_REGION ||
    (await profileSetting(environment, 'region')) ||
    DEFAULT_REGION;
  if (!REGION.test(region)) throw wrong(location, `a region such as ${DEFAULT_REGION}`, region);
  const own =
    parameters.get('endpoint') ||
    variables.AWS_ENDPOINT_URL_S3 ||
    variables.AWS_ENDPOINT_URL ||
    (await profileSetting(environment, 'endpoint_url'));
  if (own !== undefined && !isEndpoint(own))
    throw wrong(location, 'an endpoint such as https://s3.example.com:9000', own);
  const ca = parameters.get('ca') || variables.AWS_CA_BUNDLE;
  return {
    ...{ bucket, prefix, region },
    endpoint: own ?? `https://s3.${region}.amazonaws.com${region.startsWith('cn-') ? '.cn' : ''}`,
    style: styleOf(location, parameters.get('style'), { isOwn: own !== undefined, bucket }),
    ca: ca ? [...rootCertificates, await readAuthority(ca)] : undefined,
    keys: () => readKeys(environment),
    keysFrom: keysSource(environment),
  };
}

function parseLocation(location: string) {
  const [, bucket = '', path = '', query = ''] = /^s3:\/\/([^/?]*)(?:\/([^?]*))?(?:\?(.*))?$/.exec(location) ?? [];
  const parts = path.split('/').filter(Boolean);
  if (!BUCKET.test(bucket)) throw wrong(location, `the name of a bucket: ${FORM}`, bucket);
  const odd = parts.find((part) => !PREFIX_PART.test(part));
  if (odd !== undefined) throw wrong(location, 'a prefix of letters, digits and "._=@-" between slashes', odd);
  const parameters = new URLSearchParams(query);
  const unknown = [...parameters.keys()].find((name) => !PARAMETERS.includes(name));
  if (unknown !== undefined) throw wrong(location, `only the parameters ${PARAMETERS.join(', ')}`, unknown);
  return { bucket, prefix: parts.map((part) => `${part}/`).join(''), parameters };
}

function isEndpoint(text: string): boolean {
  if (!isHttpUrl(text)) return false;
  const { search, hash, username, password } = new URL(text);
  return `${search}${hash}${username}${password}` === '';
}

/** Servers of one's own seldom have a name for each bucket; Amazon has, and asks to use it. */
function styleOf(
  location: string,
  chosen: string | null,
  { isOwn, bucket }: { readonly isOwn: boolean; readonly bucket: string },
): 'path' | 'virtual' {
  if (!chosen) return isOwn || !HOST_BUCKET.test(bucket) ? 'path' : 'virtual';
  if (chosen !== 'path' && chosen !== 'virtual') throw wrong(location, 'the style "path" or "virtual"', chosen);
  return chosen;
}

async function readAuthority(file: string): Promise<string> {
  const text = await readFile(file, 'utf8').catch((cause: unknown) => {
    throw new TargetError('Invalid', `the authorities in ${file} cannot be read: ${fileProblem(cause)}`, { cause });
  });
  if (!text.includes('-----BEGIN CERTIFICATE-----')) {
    throw new TargetError('Invalid', `expected certificates as PEM in ${file}; found none`);
  }
  return text;
}

function wrong(location: string, expected: string, found: string): TargetError {
  return new TargetError('Invalid', `${location}: expected ${expected}; found ${JSON.stringify(found.slice(0, 200))}`);
}
