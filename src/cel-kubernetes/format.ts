/** `format.dns1123Label().validate(name)`: the formats of names and values that Kubernetes has. */
import { REGEX_LENGTH_FACTOR, STRING_TRAVERSAL_FACTOR } from '../cel/cost/constants.ts';
import { exactly, scaleRange } from '../cel/cost/range.ts';
import { member, plain } from '../cel/libraries/declare.ts';
import type { Library } from '../cel/library.ts';
import { listType, opaqueType, optionalType, STRING } from '../cel/types/type.ts';
import { costSizeOf } from '../cel/values/size.ts';
import { OpaqueValue, Optional } from '../cel/values/value.ts';
import { formatOf } from '../json-schema/formats.ts';
import { type Check, dns1035Label, dnsLabel, dnsSubdomain, labelValue, qualifiedName } from '../schema/names.ts';
import { nodesOf } from './costs.ts';
import { readUrl } from './url.ts';

const TYPE = opaqueType('kubernetes.NamedFormat');

class FormatValue extends OpaqueValue {
  readonly type = TYPE;

  constructor(
    readonly name: string,
    readonly check: Check,
    /** Approximate length of an expression for it. */
    readonly expressionLength: number,
  ) {
    super();
  }

  equals({ name }: FormatValue): boolean {
    return this.name === name;
  }
}

/** A generated name has something behind a prefix, which may end in a dash. */
const prefix =
  (check: Check): Check =>
  (text) =>
    check(text.endsWith('-') && text.length > 1 ? `${text.slice(0, -2)}a` : text);

const known = (format: string, message: string): Check => {
  const isValid = formatOf(format);
  return (text) => (isValid?.(text) ? [] : [message]);
};

const uri: Check = (text) => {
  const url = readUrl(text);
  return typeof url === 'string' ? [url] : [];
};

const MAX_EXPRESSION_LENGTH = 128;

const FORMATS: Readonly<Record<string, FormatValue>> = Object.fromEntries(
  Object.entries<[name: string, check: Check, expressionLength: number]>({
    dns1123Label: ['DNS1123Label', dnsLabel, 30],
    dns1123Subdomain: ['DNS1123Subdomain', dnsSubdomain, 60],
    dns1035Label: ['DNS1035Label', dns1035Label, 30],
    qualifiedName: ['QualifiedName', qualifiedName, 60],
    dns1123LabelPrefix: ['DNS1123LabelPrefix', prefix(dnsLabel), 30],
    dns1123SubdomainPrefix: ['DNS1123SubdomainPrefix', prefix(dnsSubdomain), 60],
    dns1035LabelPrefix: ['DNS1035LabelPrefix', prefix(dns1035Label), 30],
    labelValue: ['LabelValue', labelValue, 40],
    uri: ['URI', uri, 1103],
    uuid: ['uuid', known('uuid', 'does not match the UUID format'), 87],
    byte: ['byte', known('byte', 'invalid base64'), 84],
    date: ['date', known('date', 'invalid date'), 101],
    datetime: ['datetime', known('datetime', 'invalid datetime'), 101],
  }).map(([name, parts]) => [name, new FormatValue(...parts)]),
);

function validate({ check }: FormatValue, text: string): Optional {
  const problems = check(text);
  return problems.length === 0 ? Optional.NONE : new Optional(problems);
}

export const FORMAT_LIBRARY: Library = {
  name: 'kubernetes.format',
  types: [TYPE],
  functions: [
    {
      name: 'validate',
      overloads: [
        member('format-validate', [TYPE, STRING], optionalType(listType(STRING)), validate, {
          costBefore: ([format, text]) =>
            Math.ceil((1 + costSizeOf(text!)) * STRING_TRAVERSAL_FACTOR) *
            Math.ceil((format as FormatValue).expressionLength * REGEX_LENGTH_FACTOR),
          estimate: (call) => ({
            cost: scaleRange(
              scaleRange(call.sizeOf(nodesOf(call)[1]!), STRING_TRAVERSAL_FACTOR),
              MAX_EXPRESSION_LENGTH * REGEX_LENGTH_FACTOR,
            ),
          }),
        }),
      ],
    },
    {
      name: 'format.named',
      overloads: [
        plain(
          'format-named',
          [STRING],
          optionalType(TYPE),
          (name) => (Object.hasOwn(FORMATS, name) ? new Optional(FORMATS[name]!) : Optional.NONE),
          { costBefore: () => 1, estimate: () => ({ cost: exactly(1) }) },
        ),
      ],
    },
    ...Object.entries(FORMATS).map(([name, format]) => ({
      name: `format.${name}`,
      overloads: [plain(`format.${name}`, [], TYPE, () => format)],
    })),
  ],
};
