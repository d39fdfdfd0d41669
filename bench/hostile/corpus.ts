import { dependencies } from './attacks/dependencies.ts'
import { detect } from './attacks/detect.ts'
import { exit } from './attacks/exit.ts'
import { forge } from './attacks/forge.ts'
import { gates } from './attacks/gates.ts'
import { names } from './attacks/names.ts'
import { reach } from './attacks/reach.ts'
import { remember } from './attacks/remember.ts'
import { type Idea, type IdeaResult, type Isolation, OUTCOMES, runIdeas } from './campaign.ts'
import type { Attack, Family } from './entry.ts'
import { HONEST } from './honest.ts'
import { HOSTS, type HostName } from './hosts.ts'

const ATTACKS: Record<Family, readonly Attack[]> = {
  forge,
  exit,
  detect,
  remember,
  'reach the other side': reach,
  gates,
  dependencies,
  'names and text': names,
}

/** An attack of a family, or an honest idea. Its ideas are judged in one campaign. */
export interface Entry {
  group: Family | 'honest'
  name: string
  host: HostName
  ideas: Omit<Idea, 'title'>[]
}

export interface EntryResult extends IdeaResult {
  entry: Entry
}

export function listEntries(): Entry[] {
  const attacks = Object.entries(ATTACKS).flatMap(([family, all]) =>
    all.map(({ name, host, allies = [], ...change }) => ({
      group: family as Family,
      name,
      host,
      ideas: [change, ...allies].map(each => ({ change: each, base: HOSTS[host].part })),
    })),
  )
  const honest = HONEST.map(({ name, host, before, after }) => ({
    group: 'honest' as const,
    name,
    host,
    ideas: [{ change: { text: after }, base: before }],
  }))
  return [...attacks, ...honest]
}

/** Runs one campaign for each host project, and one more for its honest ideas. */
export async function runEntries(
  entries: readonly Entry[],
  isolation: Isolation,
  say: (line: string) => void = () => {},
): Promise<EntryResult[]> {
  const results: EntryResult[] = []
  for (const host of Object.keys(HOSTS) as HostName[])
    for (const honest of [false, true]) {
      const here = entries.filter(entry => entry.host === host && (entry.group === 'honest') === honest)
      if (here.length === 0) continue
      const began = performance.now()
      results.push(...(await runGroup({ host, isolation, say }, here)))
      const seconds = Math.round((performance.now() - began) / 1000)
      say(`${host}: ${here.length} ${honest ? 'honest ideas' : 'attacks'} in ${seconds} s`)
    }
  return results
}

/** A forged result that lands hides every other one, so the rest is judged again without it. */
async function runGroup(
  run: { host: HostName; isolation: Isolation; say: (line: string) => void },
  entries: readonly Entry[],
): Promise<EntryResult[]> {
  const results = await runCampaign(run.host, run.isolation, entries)
  const landed = results.filter(({ outcome }) => outcome === 'landed')
  const left = results.filter(({ outcome }) => outcome !== 'landed').map(({ entry }) => entry)
  if (landed.length === 0 || left.length === 0 || entries[0]?.group === 'honest') return results
  for (const { entry } of landed) run.say(`${run.host}: ${entry.name} landed`)
  return [...landed, ...(await runGroup(run, left))]
}

async function runCampaign(
  host: HostName,
  isolation: Isolation,
  entries: readonly Entry[],
): Promise<EntryResult[]> {
  const ideas = entries.flatMap(entry =>
    entry.ideas.map((idea, at) => ({ ...idea, entry, title: formatTitle(entry, at) })),
  )
  const results = await runIdeas(host, isolation, ideas)
  return entries.map(entry => {
    const own = results.filter((_, at) => ideas[at]?.entry === entry)
    const worst = own.toSorted((a, b) => OUTCOMES.indexOf(a.outcome) - OUTCOMES.indexOf(b.outcome))[0]
    if (worst === undefined) throw new Error(`${entry.name} has no ideas`)
    return { entry, ...worst }
  })
}

function formatTitle({ group, name }: Entry, at: number): string {
  return `${group}: ${name}${at === 0 ? '' : `, ally ${at}`}`
}
