/** Mistakes in an expression's text, and how cel-go shows them: with the line and a caret under the position. */

export interface Issue {
  /** Position in UTF-16 units from the start of the source; undefined when the mistake has none. */
  readonly position: number | undefined;
  readonly message: string;
}

/** Limit for lines in messages; longer ones are left out. */
const MAX_SNIPPET_BYTES = 16_384;

/** An issue with its position, the source line and the caret: `ERROR: <input>:1:5: … \n | source\n | ....^`. */
export function formatIssue(issue: Issue, source: string): string {
  if (issue.position === undefined) return `ERROR: <input>:-1:0: ${issue.message}`;
  const lineStart = issue.position === 0 ? 0 : source.lastIndexOf('\n', issue.position - 1) + 1;
  const lineEnd = source.indexOf('\n', lineStart);
  const line = source.slice(lineStart, lineEnd === -1 ? undefined : lineEnd);
  const number = countLines(source, lineStart);
  const before = Array.from(source.slice(lineStart, issue.position));
  const head = `ERROR: <input>:${number}:${before.length + 1}: ${issue.message}`;
  if (Buffer.byteLength(line) > MAX_SNIPPET_BYTES) return head;
  const marked = Array.from(line)[before.length];
  const dots = before.map((character) => (isWide(character) ? '\uff0e' : '.')).join('');
  const caret = marked !== undefined && isWide(marked) ? '\uff3e' : '^';
  return `${head}\n | ${line.replaceAll('\t', ' ')}\n | ${dots}${caret}`;
}

function isWide(character: string): boolean {
  return character > '\u007f';
}

function countLines(source: string, end: number): number {
  let lines = 1;
  for (let at = source.indexOf('\n'); at !== -1 && at < end; at = source.indexOf('\n', at + 1)) lines++;
  return lines;
}
