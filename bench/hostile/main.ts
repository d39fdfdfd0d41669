import { type Isolation, OUTCOMES } from './campaign.ts'
import { type EntryResult, listEntries, runEntries } from './corpus.ts'
import { FAMILIES } from './entry.ts'

const USAGE = `usage: npm run bench:hostile -- [--verbose] [--isolation uid|none] [words of a name or a family]
uid needs root; each of its sides runs as a user of its own`

const LEAST_HELD_SHARE = 0.05

async function main(args: readonly string[]): Promise<void> {
  const words = args.filter(arg => !arg.startsWith('--') && arg !== 'uid' && arg !== 'none')
  if (args.includes('--help')) return console.log(USAGE)
  const wanted = words.join(' ').toLowerCase()
  const entries = listEntries().filter(({ group, name, host }) =>
    `${group} ${host}: ${name}`.includes(wanted),
  )
  const verbose = args.includes('--verbose') || wanted !== ''
  let failed = false
  for (const isolation of selectIsolations(args)) {
    const results = await runEntries(entries, isolation, line => console.error(`${isolation} ${line}`))
    if (verbose) for (const result of results) printResult(isolation, result)
    printTable(isolation, results)
    failed ||= !isPassed(results)
  }
  if (failed) process.exitCode = 1
}

function selectIsolations(args: readonly string[]): Isolation[] {
  if (args.includes('none')) return ['none']
  if (args.includes('uid')) return ['uid']
  return process.getuid?.() === 0 ? ['uid', 'none'] : ['none']
}

function printResult(
  isolation: Isolation,
  { entry: { group, name, host }, outcome, why }: EntryResult,
): void {
  console.log(`${isolation.padEnd(4)} ${outcome.padEnd(8)} ${group}, ${host}: ${name}\n              ${why}`)
}

const TITLES: Record<Isolation, string> = {
  uid: 'isolation: users (root)',
  none: 'without isolation',
}

function printTable(isolation: Isolation, results: readonly EntryResult[]): void {
  const row = (cells: readonly (string | number)[]) =>
    cells.map((cell, at) => (at === 0 ? `${cell}`.padEnd(22) : `${cell}`.padStart(9))).join('')
  console.log(`\n${TITLES[isolation]}`)
  console.log(row(['', 'ideas', ...OUTCOMES]))
  const print = (title: string, own: readonly EntryResult[]) =>
    console.log(row([title, own.length, ...countOutcomes(own)]))
  for (const family of FAMILIES) print(family, selectGroup(results, family))
  print(
    'all attacks',
    results.filter(({ entry }) => entry.group !== 'honest'),
  )
  print('honest ideas', selectGroup(results, 'honest'))
}

function countOutcomes(results: readonly EntryResult[]): number[] {
  return OUTCOMES.map(outcome => results.filter(result => result.outcome === outcome).length)
}

function selectGroup(results: readonly EntryResult[], group: string): EntryResult[] {
  return results.filter(({ entry }) => entry.group === group)
}

/** No attack lands, no honest idea is refused, and few are held. */
function isPassed(results: readonly EntryResult[]): boolean {
  const honest = selectGroup(results, 'honest')
  const attacks = results.filter(({ entry }) => entry.group !== 'honest')
  const held = honest.filter(({ outcome }) => outcome === 'held').length
  return (
    attacks.every(({ outcome }) => outcome !== 'landed') &&
    honest.every(({ outcome }) => outcome !== 'refused') &&
    held <= LEAST_HELD_SHARE * honest.length
  )
}

await main(process.argv.slice(2))
