/**
 * The formats of names and other short strings. A check returns its complaints with the messages of Kubernetes 1.36; an
 * empty list means that the string is valid.
 */
export type Check = (text: string) => string[];

const LABEL = '[a-z0-9]([-a-z0-9]*[a-z0-9])?';
const SUBDOMAIN = `${LABEL}(\\.${LABEL})*`;
const LABEL_1035 = '[a-z]([-a-z0-9]*[a-z0-9])?';
const QUALIFIED = '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]';
const C_IDENTIFIER = '[A-Za-z_][A-Za-z0-9_]*';
const CONFIG_KEY = '[-._a-zA-Z0-9]+';
const HEADER_NAME = '[-A-Za-z0-9]+';
const PERCENT = '[0-9]+%';
const HTTP_PATH = "[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+";

/**
 * Length beyond which texts match no pattern: no such text is valid, and a pattern would take noticeable time for
 * megabytes.
 */
const MAX_MATCHED_CHARACTERS = 64 * 1024;

interface Pattern {
  readonly test: (text: string) => boolean;
}

function whole(pattern: string): Pattern {
  const compiled = new RegExp(`^${pattern}$`);
  return { test: (text) => text.length <= MAX_MATCHED_CHARACTERS && compiled.test(text) };
}
const labelPattern = whole(LABEL);
const subdomainPattern = whole(SUBDOMAIN);
const label1035Pattern = whole(LABEL_1035);
const qualifiedPattern = whole(QUALIFIED);
const cIdentifierPattern = whole(C_IDENTIFIER);
const configKeyPattern = whole(CONFIG_KEY);
const headerNamePattern = whole(HEADER_NAME);
const percentPattern = whole(PERCENT);
const httpPathPattern = whole(HTTP_PATH);

/** A complaint with examples: `… (e.g. 'a', or 'b', regex used for validation is '…')`. */
function mismatch(what: string, pattern: string, ...examples: string[]): string {
  const shown = examples.map((example) => `'${example}', `).join(' or ');
  return examples.length
    ? `${what} (e.g. ${shown}regex used for validation is '${pattern}')`
    : `${what} (regex used for validation is '${pattern}')`;
}

const bytes = (text: string) => Buffer.byteLength(text);

const tooLong = (text: string, limit: number, unit = 'characters'): string[] =>
  text.length > limit || (text.length * 3 > limit && bytes(text) > limit)
    ? [`must be no more than ${limit} ${unit}`]
    : [];

const LABEL_MESSAGE =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character";
const SUBDOMAIN_MESSAGE =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character";

export const dnsLabel: Check = (text) => {
  const complaints = tooLong(text, 63);
  if (labelPattern.test(text)) return complaints;
  complaints.push(
    subdomainPattern.test(text) ? 'must not contain dots' : mismatch(LABEL_MESSAGE, LABEL, 'my-name', '123-abc'),
  );
  return complaints;
};

export const dnsSubdomain: Check = (text) => subdomain(text, 'characters');

function subdomain(text: string, unit: string): string[] {
  const complaints = tooLong(text, 253, unit);
  if (!subdomainPattern.test(text)) complaints.push(mismatch(SUBDOMAIN_MESSAGE, SUBDOMAIN, 'example.com'));
  return complaints;
}

/** Checks names of Services: like a DNS label, but starting with a letter. */
export const dns1035Label: Check = (text) => {
  const complaints = tooLong(text, 63);
  if (!label1035Pattern.test(text)) {
    complaints.push(
      mismatch(
        "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character",
        LABEL_1035,
        'my-name',
        'abc-123',
      ),
    );
  }
  return complaints;
};

const QUALIFIED_MESSAGE = mismatch(
  "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
  QUALIFIED,
  'MyName',
  'my.name',
  '123-abc',
);

/** A key of labels, annotations, resources and the like: `name` or `example.com/name`. */
export const qualifiedName: Check = (text) => {
  const slash = text.indexOf('/');
  if (slash >= 0 && text.indexOf('/', slash + 1) >= 0) {
    const prefixed = "with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')";
    return [`a valid label key ${QUALIFIED_MESSAGE} ${prefixed}`];
  }
  const complaints: string[] = [];
  const name = text.slice(slash + 1);
  if (slash === 0) complaints.push('prefix part must be non-empty');
  else if (slash > 0) {
    for (const complaint of subdomain(text.slice(0, slash), 'bytes')) complaints.push(`prefix part ${complaint}`);
  }
  if (!name) complaints.push('name part must be non-empty');
  else for (const complaint of tooLong(name, 63, 'bytes')) complaints.push(`name part ${complaint}`);
  if (!qualifiedPattern.test(name)) complaints.push(`name part ${QUALIFIED_MESSAGE}`);
  return complaints;
};

export const labelValue: Check = (text) => {
  const complaints = tooLong(text, 63, 'bytes');
  if (text && !qualifiedPattern.test(text)) {
    complaints.push(
      mismatch(
        "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
        `(${QUALIFIED})?`,
        'MyValue',
        'my_value',
        '12345',
      ),
    );
  }
  return complaints;
};

export const cIdentifier: Check = (text) =>
  cIdentifierPattern.test(text)
    ? []
    : [
        mismatch(
          "a valid C identifier must start with alphabetic character or '_', followed by a string of alphanumeric characters or '_'",
          C_IDENTIFIER,
          'my_name',
          'MY_NAME',
          'MyName',
        ),
      ];

/** Printable ASCII characters except '='. */
export const envVarName: Check = (text) => {
  if (!text) return ['environment variable name must be non-empty'];
  return /^[ -<>-~]*$/.test(text)
    ? []
    : ["a valid environment variable name must consist only of printable ASCII characters other than '='"];
};

/** A key of a ConfigMap or Secret, which can become a file name. */
export const configMapKey: Check = (text) => {
  const complaints = tooLong(text, 253);
  if (!configKeyPattern.test(text)) {
    complaints.push(
      mismatch(
        "a valid config key must consist of alphanumeric characters, '-', '_' or '.'",
        CONFIG_KEY,
        'key.name',
        'KEY_NAME',
        'key-name',
      ),
    );
  }
  if (text === '.') complaints.push("must not be '.'");
  else if (text === '..') complaints.push("must not be '..'");
  else if (text.startsWith('..')) complaints.push("must not start with '..'");
  return complaints;
};

/** The name of a port, in the format of IANA service names. */
export const portName: Check = (text) => {
  const complaints = tooLong(text, 15);
  if (!/^[-a-z0-9]+$/.test(text)) {
    complaints.push('must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)');
  }
  if (!/[a-z]/.test(text)) complaints.push('must contain at least one letter (a-z)');
  if (text.includes('--')) complaints.push('must not contain consecutive hyphens');
  if (text.startsWith('-') || text.endsWith('-')) complaints.push('must not begin or end with a hyphen');
  return complaints;
};

export const inRange = (value: number, low: number, high: number): string[] =>
  value >= low && value <= high ? [] : [`must be between ${low} and ${high}, inclusive`];

export const portNumber = (port: number): string[] => inRange(port, 1, 65535);

export const httpHeaderName: Check = (text) =>
  headerNamePattern.test(text)
    ? []
    : [mismatch("a valid HTTP header must consist of alphanumeric characters or '-'", HEADER_NAME, 'X-Header-Name')];

export const percent: Check = (text) =>
  percentPattern.test(text)
    ? []
    : [mismatch("a valid percent string must be a numeric string followed by an ending '%'", PERCENT, '1%', '93%')];

/** A string that can be one segment of a URL path. */
export const pathSegment: Check = (text) => {
  if (text === '.' || text === '..') return [`may not be '${text}'`];
  // Half a surrogate pair cannot be written in a URL.
  if (/\p{Surrogate}/u.test(text)) return ['must be valid UTF-8'];
  return pathSegmentPrefix(text);
};

const pathSegmentPrefix: Check = (text) =>
  ['/', '%'].filter((char) => text.includes(char)).map((char) => `may not contain '${char}'`);

/** `example.com/some/path`. */
export const domainPrefixedPath: Check = (text) => {
  const slash = text.indexOf('/');
  if (slash <= 0 || slash === text.length - 1) {
    return ['must be a domain-prefixed path (such as "acme.io/foo")'];
  }
  const complaints = dnsSubdomain(text.slice(0, slash));
  if (!httpPathPattern.test(text.slice(slash + 1))) complaints.push(mismatch('Invalid path', HTTP_PATH));
  return complaints;
};

/** The check of a kind's names. A prefix, from `generateName`, may end with a dash, because a suffix follows it. */
export type NameRule = (name: string, prefix: boolean) => string[];

export const nameRule =
  (check: Check): NameRule =>
  (name, prefix) =>
    check(prefix ? maskTrailingDash(name) : name);

function maskTrailingDash(name: string): string {
  return name.length > 1 && name.endsWith('-') ? `${name.slice(0, -2)}a` : name;
}

/** Names that only have to be valid in a URL path. */
export const pathSegmentName: NameRule = (name, prefix) => (prefix ? pathSegmentPrefix(name) : pathSegment(name));
