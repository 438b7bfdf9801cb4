/** Security settings of Windows containers. */
import { s } from '../../../schema/builders.ts';
import { type FieldError, invalid } from '../../../schema/field-error.ts';
import { dnsSubdomain } from '../../../schema/names.ts';

const MAX_CREDENTIAL_KIB = 64;
const MAX_DOMAIN = 256;
const MAX_USER = 104;

const netBiosDomain = /^[^\\/:*?"<>|.][^\\/:*?"<>|]{0,14}$/;
const dnsDomain = /^[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?(?:\.[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?)*$/;
const forbiddenInUser = /["/\\:;|=,+*?<>@[\]]/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for
const control = /[\x00-\x1f\x7f]/;

const options = {
  gmsaCredentialSpecName: s.string('GMSA credential spec that the container uses, by name.'),
  gmsaCredentialSpec: s.string(
    'Contents of the GMSA credential spec. Usually filled in by an admission webhook from ' +
      'gmsaCredentialSpecName. At most 64 KiB.',
  ),
  runAsUserName: s.string(
    'Windows user that runs the entrypoint of the container, as USER or DOMAIN\\USER. Defaults to the user of ' +
      'the image.',
  ),
  hostProcess: s.boolean(
    'Whether the container runs as a host process, with access to the node. All containers of a pod must ' +
      'have the same value, and hostNetwork must be true with it.',
  ),
};

interface Options {
  gmsaCredentialSpecName?: string;
  gmsaCredentialSpec?: string;
  runAsUserName?: string;
}

export const WindowsSecurityContextOptions = s.object(
  'WindowsSecurityContextOptions',
  'Security settings for containers on Windows nodes. Values of the container override those of the pod.',
  options,
  { rules: [valid] },
);

function valid({ gmsaCredentialSpecName: name, gmsaCredentialSpec: spec, runAsUserName: user }: Options): FieldError[] {
  const found: FieldError[] = [];
  if (name !== undefined) {
    for (const complaint of dnsSubdomain(name)) found.push(invalid('gmsaCredentialSpecName', name, complaint));
  }
  if (spec === '') {
    found.push(invalid('gmsaCredentialSpec', spec, 'gmsaCredentialSpec cannot be an empty string'));
  } else if (spec && Buffer.byteLength(spec) > MAX_CREDENTIAL_KIB * 1024) {
    const detail = `gmsaCredentialSpec size must be under ${MAX_CREDENTIAL_KIB} KiB`;
    found.push(invalid('gmsaCredentialSpec', spec, detail));
  }
  if (user !== undefined) {
    for (const complaint of userName(user)) found.push(invalid('runAsUserName', user, `runAsUserName${complaint}`));
  }
  return found;
}

/** Complaints about `DOMAIN\user` or `user`; they continue a message that starts with the field name. */
function userName(text: string): string[] {
  if (!text) return [' cannot be an empty string'];
  if (control.test(text)) return [' cannot contain control characters'];
  const parts = text.split('\\');
  if (parts.length > 2) return [' cannot contain more than one backslash'];
  const user = parts.pop()!;
  const [domain] = parts;
  const complaints: string[] = [];
  if (domain !== undefined) {
    if (domain.length >= MAX_DOMAIN) complaints.push(`'s Domain length must be under ${MAX_DOMAIN} characters`);
    if (!netBiosDomain.test(domain) && !dnsDomain.test(domain)) {
      complaints.push("'s Domain doesn't match the NetBios nor the DNS format");
    }
  }
  if (!user) complaints.push("'s User cannot be empty");
  else if (user.length > MAX_USER) complaints.push(`'s User length must not be longer than ${MAX_USER} characters`);
  if (/^[. ]+$/.test(user)) complaints.push("'s User cannot contain only periods or spaces");
  if (forbiddenInUser.test(user)) {
    complaints.push('\'s User cannot contain the following characters: "/\\:;|=,+*?<>@[]');
  }
  return complaints;
}
