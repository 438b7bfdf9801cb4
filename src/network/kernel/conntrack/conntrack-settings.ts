/** The settings of connection tracking that Services need, as kube-proxy has them by default. */

const FOLDER = 'net/netfilter';
/** A connection that one end has closed is forgotten after an hour. */
const CLOSE_WAIT_SECONDS = 3_600;
/** The kernel's default of five days lets connections to pods that are gone fill the table. */
const MAX_ESTABLISHED_SECONDS = 86_400;
const CONNECTIONS_PER_CORE = 32_768;
const MIN_CONNECTIONS = 131_072;

type Wanted = (current: number, cores: number) => number;

/** Wanted settings by name below /proc/sys. A setting that already suits is left alone. */
const SETTINGS: Readonly<Record<string, Wanted>> = {
  [`${FOLDER}/nf_conntrack_tcp_timeout_close_wait`]: () => CLOSE_WAIT_SECONDS,
  [`${FOLDER}/nf_conntrack_tcp_timeout_established`]: (current) => Math.min(current, MAX_ESTABLISHED_SECONDS),
  // A network namespace cannot write it: it is the machine's.
  [`${FOLDER}/nf_conntrack_max`]: (current, cores) => Math.max(current, MIN_CONNECTIONS, CONNECTIONS_PER_CORE * cores),
};

export const CONNTRACK_SETTINGS: readonly string[] = Object.keys(SETTINGS);

/** Returns the text to write to a setting with this content; undefined when it already suits. */
export function conntrackValue(setting: string, content: string, cores: number): string | undefined {
  const current = Number(content.trim());
  if (content.trim() === '' || !Number.isInteger(current)) return undefined;
  const wanted = SETTINGS[setting]!(current, cores);
  return wanted === current ? undefined : String(wanted);
}
