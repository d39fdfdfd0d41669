import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { appendCommuting } from '../src/ledger/append.ts'
import { buildCheckpoint } from '../src/ledger/checkpoint.ts'
import { loadCampaign, foldAllEvents } from '../src/ledger/load.ts'
import type { EventDraft } from '../src/model/event.ts'
import { formatExperimentId, type Oid } from '../src/model/ids.ts'
import { BY, note, refs, started, type TempLedger, tempLedger } from '../test/ledger/temp-ledger.ts'
import { row } from './table.ts'

const EVENTS = 9_999
const CLOSED = 10_000
const ROUNDS = 25

/** What must not grow: the same things done to a young campaign and to an old one, in turn. */
export async function scale(): Promise<void> {
  const [young, old] = [await tempLedger(), await tempLedger()]
  await fill(young, 10, 10)
  await fill(old, EVENTS, CLOSED)
  await keepHouse(young)
  await keepHouse(old)
  await appends(young, old)
  await keepers(young, old)
  await loads(old)
  await Promise.all([young.remove(), old.remove()])
}

async function fill(ledger: TempLedger, events: number, closed: number): Promise<void> {
  const drafts: EventDraft[] = [started()]
  for (let number = 1; drafts.length < events; number++) drafts.push(...experiment(number))
  drafts.length = events
  for (let at = 0; at < drafts.length; at += 500) await ledger.write(drafts.slice(at, at + 500))
  await pushRef(ledger, refs.closed, null, await keepersOf(ledger, closed))
}

/** As `run` does with winnow's repository, and git with the one that is pushed to. */
async function keepHouse({ repo, root }: TempLedger): Promise<void> {
  if (await repo.isScattered()) await repo.packUp()
  execFileSync('git', ['--git-dir', join(root, 'remote.git'), 'gc', '--quiet'])
}

function experiment(number: number): EventDraft[] {
  const id = formatExperimentId(number)
  const words = { hypothesis: `idea ${number}`, category: 'c', family: null, learnings: null }
  const source = { use: 'patch', key: `patch:${number}` }
  const base = { commit: 'a'.repeat(40), tree: 'b'.repeat(40) }
  const opened: EventDraft<'experiment-opened'> = {
    kind: 'experiment-opened',
    cause: source.key,
    experiment: id,
    purpose: 'idea',
    ...words,
    priority: 'medium',
    required_deps: [],
    source,
    branch: null,
    owned: true,
    pull: null,
    head: base.commit,
    base,
  }
  const ended = { outcome: 'dropped', reason: 'no gain', head: null, results: null } as const
  return [opened, { kind: 'closed', cause: id, experiment: id, ...ended }]
}

async function keepersOf({ repo }: TempLedger, count: number): Promise<Oid> {
  let last = await repo.writeCommit({ tree: repo.emptyTree, parents: [], message: 'keep', date: 0 })
  for (let i = 1; i < count; i++) {
    last = await repo.writeCommit({ tree: repo.emptyTree, parents: [last], message: `keep ${i}`, date: i })
  }
  return last
}

async function pushRef({ repo }: TempLedger, ref: string, from: Oid | null, to: Oid): Promise<void> {
  const result = await repo.push([{ ref, from, to }])
  if (!result.ok) throw new Error(JSON.stringify(result))
}

async function appends(young: TempLedger, old: TempLedger): Promise<void> {
  const times = await inTurn(young, old, async (ledger, round) => {
    await appendCommuting(ledger.deps(), [note(`round ${round}`)], BY)
  })
  row('append at 10 events', `${times.young.toFixed(1)} ms`)
  row(
    `append at ${EVENTS} events, ${CLOSED} closed experiments`,
    `${times.old.toFixed(1)} ms`,
    times.old / times.young,
    1.3,
  )
}

async function keepers(young: TempLedger, old: TempLedger): Promise<void> {
  const tips = new Map<TempLedger, Oid>()
  for (const ledger of [young, old])
    tips.set(ledger, (await ledger.repo.remoteRefs([refs.closed])).refs.get(refs.closed) ?? '')
  const times = await inTurn(young, old, async (ledger, round) => {
    const { repo } = ledger
    const before = tips.get(ledger) ?? ''
    const head = await repo.writeCommit({
      tree: repo.emptyTree,
      parents: [],
      message: `head ${round}`,
      date: round,
    })
    const to = await repo.writeCommit({
      tree: repo.emptyTree,
      parents: [before, head],
      message: 'keep',
      date: round,
    })
    await pushRef(ledger, refs.closed, before, to)
    tips.set(ledger, to)
  })
  row('keeper push at 10 closed experiments', `${times.young.toFixed(1)} ms`)
  row(
    `keeper push at ${CLOSED} closed experiments`,
    `${times.old.toFixed(1)} ms`,
    times.old / times.young,
    1.3,
  )
}

/** Both take turns, so that a busy machine slows both; medians. */
async function inTurn(
  young: TempLedger,
  old: TempLedger,
  act: (ledger: TempLedger, round: number) => Promise<void>,
): Promise<{ young: number; old: number }> {
  const times = { young: [] as number[], old: [] as number[] }
  for (let round = 0; round < ROUNDS; round++) {
    for (const [name, ledger] of [
      ['young', young],
      ['old', old],
    ] as const) {
      const began = performance.now()
      await act(ledger, round)
      times[name].push(performance.now() - began)
    }
  }
  return { young: median(times.young), old: median(times.old) }
}

function median(values: number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN
}

async function loads(ledger: TempLedger): Promise<void> {
  const tip = await ledger.tip()
  if (tip.commit === null || tip.head === null) throw new Error('an empty ledger')
  // Another look at the same repository: this one remembers what it wrote.
  const stranger = await ledger.open('cache.git')
  const began = performance.now()
  const { campaign } = await foldAllEvents(stranger, tip.commit)
  const cold = performance.now() - began
  await stranger.close()
  row(`fold of ${campaign.seq} events, cold`, `${cold.toFixed(0)} ms`, cold / 1000, 1)
  const { commit } = await ledger.write([note('after')], { checkpoint: buildCheckpoint(campaign, tip.head) })
  const another = await ledger.open('cache.git')
  const again = performance.now()
  const loaded = await loadCampaign(another, commit)
  const warm = performance.now() - again
  if (loaded.checkpointIgnored !== null) throw new Error(loaded.checkpointIgnored)
  row('the same with a checkpoint', `${warm.toFixed(0)} ms`, warm / 250, 1)
}
