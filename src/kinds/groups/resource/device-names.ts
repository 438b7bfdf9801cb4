/** What drivers, pools, devices and their properties may be called. Complaints are about the value itself. */
import { type FieldError, invalid, required, tooLong, under } from '../../../schema/field-error.ts';
import { type Check, cIdentifier, dnsLabel, dnsSubdomain } from '../../../schema/names.ts';
import { csiDriverName } from '../../shapes/meta/csi-driver-name.ts';

const LONGEST_POOL = 253;
const LONGEST_DOMAIN = 63;
const LONGEST_ID = 32;

/** How long a qualified name can be that is right. */
export const LONGEST_QUALIFIED = LONGEST_DOMAIN + 1 + LONGEST_ID;

/** A rule made of a check; an empty text is judged like any other. */
export const named =
  (check: Check) =>
  (text: string): FieldError[] =>
    check(text).map((complaint) => invalid('', text, complaint));

/** The name of a request, a device or a counter. */
export const shortName = named(dnsLabel);

export function driverName(name: string): FieldError[] {
  return name ? csiDriverName(name) : [required('')];
}

/** One or more subdomains, with slashes between them. */
export function poolName(name: string): FieldError[] {
  if (!name) return [required('')];
  const found = Buffer.byteLength(name) > LONGEST_POOL ? [tooLong('', LONGEST_POOL)] : [];
  return [...found, ...name.split('/').flatMap(named(dnsSubdomain))];
}

/** Of an attribute or a capacity: an identifier, with the domain of whoever defines it where that is not the driver. */
export function deviceProperty(name: string): FieldError[] {
  const parts = name.split('/');
  const [domain = '', id = ''] = parts;
  switch (parts.length) {
    case 1:
      return identifier(name);
    case 2:
      return [
        ...(domain ? csiDriverName(domain) : [invalid('', '', 'the domain must not be empty')]),
        ...(id ? identifier(id) : [invalid('', '', 'the name must not be empty')]),
      ];
    default:
      return [];
  }
}

/** The same where the driver is not known, so that there is always a domain. */
export function fullDeviceProperty(name: string): FieldError[] {
  const found = deviceProperty(name);
  if (!name.includes('/')) {
    found.push(invalid('', name, 'a fully qualified name must be a domain and a name separated by a slash'));
  }
  return found;
}

function identifier(id: string): FieldError[] {
  const found = Buffer.byteLength(id) > LONGEST_ID ? [tooLong('', LONGEST_ID)] : [];
  return [...found, ...named(cIdentifier)(id)];
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
/** Also with a prefix, in braces, or without dashes. */
const UUID_FORMS = [
  /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i,
  /^urn:uuid:[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i,
  /^\{[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\}$/i,
  /^[0-9a-f]{32}$/i,
];
const UUID_LENGTHS = [36, 45, 38, 32];

/** What tells apart the shares of a device that several claims use. */
function shareId(text: string): FieldError[] {
  if (UUID.test(text)) return [];
  if (!UUID_LENGTHS.includes(Buffer.byteLength(text))) {
    return [invalid('', text, `error validating uid: invalid UUID length: ${Buffer.byteLength(text)}`)];
  }
  if (!UUID_FORMS.some((form) => form.test(text))) {
    return [invalid('', text, 'error validating uid: invalid UUID format')];
  }
  const detail =
    'uid must be in RFC 4122 normalized form, `xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx` with lowercase hexadecimal characters';
  return [invalid('', text, detail)];
}

/** One device, wherever it is named. */
interface DeviceIdentity {
  readonly driver: string;
  readonly pool: string;
  readonly device: string;
  readonly shareID?: string;
}

export function deviceRules({ driver, pool, device, shareID }: DeviceIdentity): FieldError[] {
  return [
    ...under('driver', driverName(driver)),
    ...under('pool', poolName(pool)),
    ...under('device', shortName(device)),
    ...(shareID === undefined ? [] : under('shareID', shareId(shareID))),
  ];
}

/** Tells devices apart. */
export function deviceKey({ driver, pool, device, shareID }: DeviceIdentity): string {
  return [driver, pool, device, ...(shareID === undefined ? [] : [shareID])].join('/');
}
