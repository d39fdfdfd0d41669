/** The ways in which sides without a user of their own can reach each other on the machine that measured. */
export const REACHES = ['files', 'network', 'processes', 'shared memory', '/tmp', 'memory'] as const
export type Reach = (typeof REACHES)[number]

const NOT_ISOLATED = 'not isolated: both sides ran as one user, so one could reach the other through '
const MEANS: Record<Reach, string> = {
  files: 'its files',
  network: 'the network',
  processes: 'processes',
  'shared memory': 'shared memory',
  '/tmp': '/tmp',
  memory: "the machine's memory, which has no limit",
}
/** Reports of earlier releases do not tell the ways. */
const UNKNOWN_REACH =
  'its files and the network, and where the system has no namespaces through processes, shared memory and /tmp'

/** Null if each side had a user of its own. */
export function describeUnisolated({
  flags,
  reach,
}: {
  flags: readonly string[]
  reach?: readonly Reach[] | undefined
}): string | null {
  if (!flags.includes('unisolated')) return null
  if (reach === undefined) return `${NOT_ISOLATED}${UNKNOWN_REACH}`
  const ways = REACHES.filter(way => reach.includes(way)).map(way => MEANS[way])
  return `${NOT_ISOLATED}${[ways.slice(0, -1).join(', '), ...ways.slice(-1)].filter(text => text !== '').join(' and ')}`
}

/** Picks that sentence from the warnings of a verdict. */
export function findUnisolatedWarning(warnings: readonly string[]): string | null {
  return warnings.find(warning => warning.startsWith(NOT_ISOLATED)) ?? null
}
