/** Parses comma-separated records: quoted fields, doubled quotes inside them, empty lines skipped. */
export function parseCsv(text: string): string[][] {
  const records: string[][] = [];
  let record: string[] = [];
  let field = '';
  let quoted = false;
  const endField = () => {
    record.push(field);
    field = '';
  };
  const endRecord = () => {
    endField();
    if (record.length > 1 || record[0] !== '') records.push(record);
    record = [];
  };
  for (let i = 0; i < text.length; i++) {
    const char = text[i]!;
    if (quoted) {
      if (char !== '"') field += char;
      else if (text[i + 1] === '"') field += text[++i];
      else quoted = false;
    } else if (char === '"' && field === '') quoted = true;
    else if (char === ',') endField();
    else if (char === '\n') endRecord();
    else if (char !== '\r' || text[i + 1] !== '\n') field += char;
  }
  if (quoted) throw new Error('a quoted field is not closed');
  endRecord();
  return records;
}

/** A user in `--token-auth-file` or `--basic-auth-file`: secret, name, uid and optionally groups. */
export interface UserRecord {
  readonly secret: string;
  readonly name: string;
  readonly uid: string;
  readonly groups: readonly string[];
}

export function parseUsers(text: string, secretName: 'token' | 'password'): UserRecord[] {
  return parseCsv(text).map((record, index) => {
    const [secret, name, uid, groups] = record;
    if (secret === undefined || name === undefined || uid === undefined) {
      throw new Error(
        `record ${index + 1} must have at least 3 columns (${secretName}, user name, user uid), found ${record.length}`,
      );
    }
    if (!secret) throw new Error(`record ${index + 1} has an empty ${secretName}`);
    return { secret, name, uid, groups: groups ? groups.split(',') : [] };
  });
}
