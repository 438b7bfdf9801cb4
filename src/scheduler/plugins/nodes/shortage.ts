/** A resource of which a node has too little for a pod; processors in millicores, memory and storage in bytes. */
export interface Shortage {
  readonly name: string;
  readonly wanted: number;
  readonly has: number;
  readonly used: number;
}

const BYTES = /^(memory|ephemeral-storage|hugepages-.*)$/;

/** Returns a text such as `requests 16 CPUs, 1.75 of 2 free`. */
export function shortageText({ name, wanted, has, used }: Shortage): string {
  const isBytes = BYTES.test(name);
  const text = isBytes ? binary : (amount: number) => decimal(name === 'cpu' ? amount / 1000 : amount);
  const unit = name === 'cpu' ? (wanted === 1000 ? 'CPU' : 'CPUs') : isBytes ? `of ${name}` : name;
  return `requests ${text(wanted)} ${unit}, ${text(Math.max(0, has - used))} of ${text(has)} free`;
}

/** Thousandths are the finest amount. */
const decimal = (amount: number) => String(Math.round(amount * 1000) / 1000);

/** Formats bytes with a suffix such as Gi, and as many digits as are needed to tell close amounts apart. */
function binary(bytes: number): string {
  const suffixes = ['Ti', 'Gi', 'Mi', 'Ki'];
  const index = suffixes.findIndex((_, each) => bytes >= 1024 ** (suffixes.length - each));
  return index < 0 ? String(bytes) : `${decimal(bytes / 1024 ** (suffixes.length - index))}${suffixes[index]}`;
}
