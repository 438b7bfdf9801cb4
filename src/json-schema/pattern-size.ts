/**
 * Estimates the number of steps in the compiled form of a regular expression: a counted repetition such as
 * `(ab){1,300}` is compiled into as many copies. Malformed expressions also have some size.
 */
export function patternSize(pattern: string): number {
  const groups: { sum: number; last: number }[] = [];
  let at = { sum: 0, last: 0 };
  const add = (size: number) => {
    at.sum += size;
    at.last = size;
  };
  for (let i = 0; i < pattern.length; i++) {
    const character = pattern[i];
    if (character === '(') {
      groups.push(at);
      at = { sum: 0, last: 0 };
    } else if (character === ')') {
      const { sum } = at;
      at = groups.pop() ?? { sum: 0, last: 0 };
      add(sum + 2);
    } else if (character === '[') {
      i = endOfClass(pattern, i);
      add(1);
    } else if (character === '{') {
      const [whole, least = '', most = ''] = COUNT.exec(pattern.slice(i, i + MAX_COUNT_LENGTH)) ?? [];
      if (whole === undefined) add(1);
      else {
        at.sum += at.last * (Math.max(Number(least), Number(most)) - 1);
        i += whole.length - 1;
      }
    } else {
      if (character === '\\') i++;
      add(1);
    }
  }
  return groups.reduce((sum, group) => sum + group.sum, at.sum);
}

const COUNT = /^\{(\d+),?(\d*)\}/;
const MAX_COUNT_LENGTH = 12;

function endOfClass(pattern: string, start: number): number {
  for (let i = start + 2; i < pattern.length; i++) {
    if (pattern[i] === '\\') i++;
    else if (pattern[i] === ']') return i;
  }
  return pattern.length;
}
