/** Key usages by their names in certificate requests. */
const keyUsages: Readonly<Record<string, number>> = {
  signing: 0,
  'digital signature': 0,
  'content commitment': 1,
  'key encipherment': 2,
  'data encipherment': 3,
  'key agreement': 4,
  'cert sign': 5,
  'crl sign': 6,
  'encipher only': 7,
  'decipher only': 8,
};

const PURPOSE = '1.3.6.1.5.5.7.3';
const purposes: Readonly<Record<string, string>> = {
  any: '2.5.29.37.0',
  'server auth': `${PURPOSE}.1`,
  'client auth': `${PURPOSE}.2`,
  'code signing': `${PURPOSE}.3`,
  'email protection': `${PURPOSE}.4`,
  's/mime': `${PURPOSE}.4`,
  'ipsec end system': `${PURPOSE}.5`,
  'ipsec tunnel': `${PURPOSE}.6`,
  'ipsec user': `${PURPOSE}.7`,
  timestamping: `${PURPOSE}.8`,
  'ocsp signing': `${PURPOSE}.9`,
  'microsoft sgc': '1.3.6.1.4.1.311.10.3.3',
  'netscape sgc': '2.16.840.1.113730.4.1',
};

export interface CertificateUsages {
  readonly keyUsages: readonly number[];
  readonly purposes: readonly string[];
}

/** Returns usages without duplicates; the server accepts no other names. */
export function usagesOf(words: readonly string[]): CertificateUsages {
  const found = <T>(table: Readonly<Record<string, T>>) => [
    ...new Set(words.flatMap((word) => (Object.hasOwn(table, word) ? [table[word] as T] : []))),
  ];
  return { keyUsages: found(keyUsages), purposes: found(purposes).sort() };
}
