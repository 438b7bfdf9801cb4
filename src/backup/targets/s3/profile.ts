/** Reads the files that the AWS tools share: `~/.aws/credentials` and `~/.aws/config`. */
import { fileProblem } from '../../../base/files/file-problem.ts';
import { readIfThere } from '../../../base/files/own/files.ts';
import type { AwsKeys } from '../../../protocols/aws/signature.ts';
import { TargetError } from '../../target.ts';

export interface AwsEnvironment {
  readonly variables: Readonly<Record<string, string | undefined>>;
  /** Home directory of the user. */
  readonly home: string;
}

/** Returns the keys that are set now: those of the environment, or of the profile. */
export async function readKeys({ variables, home }: AwsEnvironment): Promise<AwsKeys> {
  const { AWS_ACCESS_KEY_ID: id, AWS_SECRET_ACCESS_KEY: secret, AWS_SESSION_TOKEN: token } = variables;
  if (id && secret) return { accessKeyId: id, secretAccessKey: secret, sessionToken: token || undefined };
  if (id || secret) {
    const missing = id ? 'AWS_SECRET_ACCESS_KEY' : 'AWS_ACCESS_KEY_ID';
    throw new TargetError('Denied', `the environment has half of the keys for S3; set ${missing}, too`);
  }
  const file = credentialsFile({ variables, home });
  const profile = profileName(variables);
  const values = section(await text(file), [profile]);
  const [accessKeyId, secretAccessKey] = [values.get('aws_access_key_id'), values.get('aws_secret_access_key')];
  if (!accessKeyId || !secretAccessKey) {
    throw new TargetError(
      'Denied',
      `no keys for S3: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or write them to ${file}, section [${profile}]`,
    );
  }
  return { accessKeyId, secretAccessKey, sessionToken: values.get('aws_session_token') };
}

/** Names the source of the keys, for messages. */
export function keysSource(environment: AwsEnvironment): string {
  if (environment.variables.AWS_ACCESS_KEY_ID) return 'AWS_ACCESS_KEY_ID';
  return `${credentialsFile(environment)} [${profileName(environment.variables)}]`;
}

/** Returns a setting of the profile, such as `region`. */
export async function profileSetting({ variables, home }: AwsEnvironment, key: string): Promise<string | undefined> {
  const profile = profileName(variables);
  const file = variables.AWS_CONFIG_FILE || `${home}/.aws/config`;
  return section(await text(file), [profile, `profile ${profile}`]).get(key);
}

function profileName(variables: AwsEnvironment['variables']): string {
  return variables.AWS_PROFILE || 'default';
}

function credentialsFile({ variables, home }: AwsEnvironment): string {
  return variables.AWS_SHARED_CREDENTIALS_FILE || `${home}/.aws/credentials`;
}

async function text(file: string): Promise<string> {
  try {
    return (await readIfThere(file)) ?? '';
  } catch (cause) {
    throw new TargetError('Denied', `${file} cannot be read: ${fileProblem(cause)}`, { cause });
  }
}

/** Returns the keys of sections of an INI file, in lower case. Nested settings, which are indented, are left out. */
function section(file: string, names: readonly string[]): ReadonlyMap<string, string> {
  const values = new Map<string, string>();
  let isWanted = false;
  for (const line of file.split(/\r?\n/)) {
    const head = /^\s*\[\s*([^\]]*?)\s*\]/.exec(line);
    if (head) isWanted = names.includes(head[1]!.replace(/\s+/g, ' '));
    const pair = /^([^\s#;=[][^=]*)=(.*)$/.exec(line);
    if (isWanted && pair) values.set(pair[1]!.trim().toLowerCase(), pair[2]!.replace(/\s[#;].*$/, '').trim());
  }
  return values;
}
