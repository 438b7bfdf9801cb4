/** Rules for the names of drivers, pools, devices and their properties. Errors have an empty path. */
import { type FieldError, invalid, required, tooLong, under } from '../../../../schema/field-error.ts';
import { type Check, cIdentifier, dnsLabel, dnsSubdomain } from '../../../../schema/names.ts';
import { csiDriverName } from '../../../shapes/meta/csi-driver-name.ts';

const MAX_POOL_BYTES = 253;
const MAX_DOMAIN_BYTES = 63;
const MAX_IDENTIFIER_BYTES = 32;

/** Maximum length of a valid qualified name. */
export const MAX_QUALIFIED_NAME_BYTES = MAX_DOMAIN_BYTES + 1 + MAX_IDENTIFIER_BYTES;

/** Makes a rule of a check. Unlike in `matches`, empty strings are checked, too. */
export const named =
  (check: Check) =>
  (text: string): FieldError[] =>
    check(text).map((complaint) => invalid('', text, complaint));

/** The name of a request, a device or a counter. */
export const shortName = named(dnsLabel);

export function driverName(name: string): FieldError[] {
  return name ? csiDriverName(name) : [required('')];
}

/** Checks that the name is one or more DNS subdomains, separated by slashes. */
export function poolName(name: string): FieldError[] {
  if (!name) return [required('')];
  const found = Buffer.byteLength(name) > MAX_POOL_BYTES ? [tooLong('', MAX_POOL_BYTES)] : [];
  return [...found, ...name.split('/').slice(0, MAX_POOL_BYTES).flatMap(named(dnsSubdomain))];
}

/** The name of an attribute or capacity: an identifier, with a domain if it is not defined by the driver itself. */
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

/** Works like `deviceProperty` with a mandatory domain, for places where the driver is not known. */
export function fullDeviceProperty(name: string): FieldError[] {
  const found = deviceProperty(name);
  if (!name.includes('/')) {
    found.push(invalid('', name, 'a fully qualified name must be a domain and a name separated by a slash'));
  }
  return found;
}

function identifier(id: string): FieldError[] {
  const found = Buffer.byteLength(id) > MAX_IDENTIFIER_BYTES ? [tooLong('', MAX_IDENTIFIER_BYTES)] : [];
  return [...found, ...named(cIdentifier)(id)];
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
/** Other notations: with a prefix, in braces, or without dashes. */
const UUID_FORMS = [
  /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i,
  /^urn:uuid:[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i,
  /^\{[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\}$/i,
  /^[0-9a-f]{32}$/i,
];
const UUID_LENGTHS = [36, 45, 38, 32];

/** The identifier of a share of a device: a UUID in lower case. */
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

/** Identifies a device. */
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

/** A key that is unique per device. */
export function deviceKey({ driver, pool, device, shareID }: DeviceIdentity): string {
  return [driver, pool, device, ...(shareID === undefined ? [] : [shareID])].join('/');
}
