import type { Answer, Checked, Reading } from './reader.ts';
import { WRITTEN_ROWS } from './written.ts';

/** Lists errors in the handling of a damaged store, given its content before. */
export function problemsOf(answer: Answer | { readonly died: string }, expected: Reading): string[] {
  if ('died' in answer) return [`the process ${answer.died}`];
  if ('rejected' in answer) {
    const isClear = /data\.mdb|\/registry\//.test(answer.rejected) && answer.kind.startsWith('Store');
    const problems = isClear ? [] : [`it was rejected without a file or a key: ${answer.kind}: ${answer.rejected}`];
    return 'rejected' in answer.checked ? problems : [...problems, 'a check found nothing that would be rejected'];
  }
  const { first, second, third } = answer;
  return [
    ...checkProblems(first, answer.checked),
    ...rowProblems(first, expected, 0).map((problem) => `at first, ${problem}`),
    ...rowProblems(second, expected, WRITTEN_ROWS).map((problem) => `after writes, ${problem}`),
    ...rowProblems(third, expected, WRITTEN_ROWS).map((problem) => `after the next start, ${problem}`),
    ...historyProblems(first, expected),
  ];
}

/** A check names the keys that are rejected. */
function checkProblems({ damaged }: Reading, checked: Checked): string[] {
  if ('rejected' in checked) return [`a check rejected what can be opened: ${checked.rejected}`];
  const isSame = JSON.stringify([...checked.damaged].sort()) === JSON.stringify([...damaged].sort());
  return isSame ? [] : [`a check found ${checked.damaged} and not ${damaged}`];
}

/** Checks that every row is unchanged, or rejected, and that none is added. */
function rowProblems(found: Reading, expected: Reading, written: number): string[] {
  const problems: string[] = [];
  for (const [key, value] of Object.entries(found.rows)) {
    if (key.startsWith('/written/')) continue;
    if (!(key in expected.rows)) problems.push(`there is a new row ${key}`);
    else if (expected.rows[key] !== value) problems.push(`the row ${key} is another`);
  }
  for (const key of Object.keys(expected.rows)) {
    if (!(key in found.rows) && !found.damaged.includes(key)) problems.push(`the row ${key} is missing`);
  }
  const more = Object.keys(found.rows).filter((key) => key.startsWith('/written/')).length;
  if (more !== written) problems.push(`${more} of ${written} written rows are there`);
  return problems;
}

/** Checks history: it may be rejected, or be shorter; the delivered part must be right and complete from there on. */
function historyProblems(found: Reading, expected: Reading): string[] {
  if (!Array.isArray(found.history) || !Array.isArray(expected.history)) return [];
  const tail = expected.history.slice(expected.history.length - found.history.length);
  return JSON.stringify(tail) === JSON.stringify(found.history) ? [] : ['history is not what was written'];
}
