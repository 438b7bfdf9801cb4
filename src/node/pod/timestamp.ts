let second = Number.NaN;
let text = '';

/** The time as objects carry it: in whole seconds. Many are written in the same second. */
export function timestamp(milliseconds: number): string {
  const asked = Math.floor(milliseconds / 1000);
  if (asked !== second) {
    second = asked;
    text = `${new Date(asked * 1000).toISOString().slice(0, 19)}Z`;
  }
  return text;
}
