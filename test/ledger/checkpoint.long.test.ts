import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { buildCheckpoint, isCheckpointDue } from '../../src/ledger/checkpoint.ts'
import { continueCampaign, loadCampaign, type LoadedCampaign, foldAllEvents } from '../../src/ledger/load.ts'
import { createEmptyCampaign, FOLD_VERSION } from '../../src/model/campaign.ts'
import { hashSha256, toCanonicalJson } from '../../src/model/canonical-json.ts'
import type { EventDraft } from '../../src/model/event.ts'
import { buildEventPath, openChain } from '../../src/ledger/event-file.ts'
import { writeLedgerCommit } from '../../src/ledger/ledger-commit.ts'
import { readTip } from '../../src/ledger/read-events.ts'
import { AT, BY, note, started, type TempLedger, tempLedger } from './temp-ledger.ts'
import { selectCases } from '../support/cases.ts'

let ledger: TempLedger
beforeEach(async () => {
  ledger = await tempLedger()
  await ledger.write([started(), spent(1), spent(2)])
})
afterEach(() => ledger.remove())

function spent(minutes: number): EventDraft<'spent'> {
  const cost = { minutes, requests: 0, tokens: 0, usd: 0 }
  return { kind: 'spent', cause: `${minutes} minutes`, what: 'order', who: null, ok: true, ...cost }
}

function opened(experiment: string): EventDraft<'experiment-opened'> {
  return {
    kind: 'experiment-opened',
    cause: experiment,
    experiment,
    purpose: 'idea',
    hypothesis: experiment,
    category: 'speed',
    priority: 'medium',
    required_deps: [],
    family: null,
    source: { use: 'patch', key: experiment },
    branch: null,
    owned: true,
    pull: null,
    head: null,
    base: started().start,
    learnings: null,
  }
}

async function load(): Promise<LoadedCampaign> {
  return loadCampaign(ledger.repo, (await ledger.tip()).commit ?? '')
}

/** The ledger with a checkpoint of everything so far, and one more event after it. */
async function withCheckpoint(edit: (text: string) => string = text => text): Promise<void> {
  const { campaign, lastSha } = await load()
  await ledger.write([], { checkpoint: edit(buildCheckpoint(campaign, lastSha)) })
  await ledger.write([spent(4)])
}

/** Takes the event files before `seq` out of reach, so that whoever still needs them is caught. */
async function hideEventsBefore(seq: number): Promise<void> {
  await ledger.vandalise({ [buildEventPath(seq).path]: null })
}

describe('loading a campaign', () => {
  test('folds all events when there is no checkpoint', async () => {
    const { campaign, tip, lastSha, checkpointSeq, checkpointIgnored } = await load()
    expect(campaign).toMatchObject({ name: 'demo', status: 'running', seq: 3, spent: { minutes: 3 } })
    expect(tip.seq).toBe(3)
    expect(lastSha).toBe(tip.head)
    expect({ checkpointSeq, checkpointIgnored }).toEqual({ checkpointSeq: 0, checkpointIgnored: null })
  })

  test('from a checkpoint is the same as folding everything', async () => {
    await withCheckpoint()
    const quick = await load()
    const slow = await foldAllEvents(ledger.repo, quick.tip.commit ?? '')
    expect(quick.checkpointSeq).toBe(3)
    expect(slow.checkpointSeq).toBe(0)
    expect(quick.campaign).toEqual(slow.campaign)
    expect(quick.campaign.spent.minutes).toBe(7)
  })

  test('from a checkpoint keeps experiments in the order of their numbers', async () => {
    await ledger.write([opened('exp-999'), opened('exp-1000')])
    await withCheckpoint()
    expect(Object.keys((await load()).campaign.experiments)).toEqual(['exp-999', 'exp-1000'])
  })

  test('reads no event that a checkpoint covers; an audit does', async () => {
    await withCheckpoint()
    await hideEventsBefore(1)
    const { campaign, tip } = await load()
    expect(campaign.spent.minutes).toBe(7)
    await expect(foldAllEvents(ledger.repo, tip.commit ?? '')).rejects.toThrow(/event 1 is missing/)
  })

  test('reads no event with a checkpoint at the end', async () => {
    const { campaign, lastSha } = await load()
    await ledger.write([], { checkpoint: buildCheckpoint(campaign, lastSha) })
    expect((await load()).campaign).toEqual(campaign)
  })
})

describe('a wrong checkpoint', () => {
  const wrong: [string, (text: string) => string, RegExp][] = [
    ['an edited state', text => text.replace('"minutes":3', '"minutes":2'), /state digest/],
    [
      'a wrong digest',
      text => text.replace(/"state_digest":"\w{8}/, '"state_digest":"00000000'),
      /state digest/,
    ],
    [
      'a wrong chain head',
      text => text.replace(/"head":"\w{8}/, '"head":"00000000'),
      /names another event 2/,
    ],
    [
      'another fold version',
      text => text.replace(`{"fold":${FOLD_VERSION},`, '{"fold":999,'),
      /folded by version 999/,
    ],
    [
      'a seq beyond the end',
      text => text.replace('"seq":3,"state":', '"seq":300,"state":'),
      /covers 300 events/,
    ],
    [
      'a seq that is not its own',
      text => text.replace('"seq":3,"state":', '"seq":2,"state":'),
      /another event 1/,
    ],
    ['another spelling', text => text.replace('"seq":3,"state":', '"seq": 3,"state":'), /canonical/],
    ['no JSON', text => text.slice(0, -20), /not a checkpoint/],
    ['something else', () => '{}\n', /not a checkpoint/],
    ['a state that is none', () => framed({ seq: 3 }), /does not hold the state/],
    [
      'the state of another seq',
      () => framed({ ...createEmptyCampaign(), seq: 2 }),
      /does not hold the state/,
    ],
  ]
  let head = ''
  function framed(state: object): string {
    return `${toCanonicalJson({ fold: FOLD_VERSION, head, seq: 3, state, state_digest: hashSha256(toCanonicalJson(state)) })}\n`
  }

  test.each(selectCases(wrong, 3))('with %s is ignored, with the reason', async (_, edit, reason) => {
    head = (await load()).lastSha
    await withCheckpoint(edit)
    const { campaign, checkpointSeq, checkpointIgnored } = await load()
    expect(checkpointIgnored).toMatch(reason)
    expect(checkpointSeq).toBe(0)
    expect(campaign).toMatchObject({ seq: 4, spent: { minutes: 7 } })
  })
})

describe('a checkpoint is due', () => {
  test('every 256 events', () => {
    expect(isCheckpointDue(255, 0)).toBe(false)
    expect(isCheckpointDue(256, 0)).toBe(true)
    expect(isCheckpointDue(300, 256)).toBe(false)
    expect(isCheckpointDue(512, 256)).toBe(true)
  })
})

describe('continuing in memory', () => {
  test('folds only new events', async () => {
    const before = await load()
    await ledger.write([spent(4)])
    await hideEventsBefore(1)
    const { commit } = await ledger.tip()
    const after = await continueCampaign(ledger.repo, before, commit ?? '')
    expect(after.campaign).toMatchObject({ seq: 4, spent: { minutes: 7 } })
    expect(after.tip).toEqual(await ledger.tip())
    expect(await continueCampaign(ledger.repo, after, commit ?? '')).toBe(after)
  })

  test('finds a checkpoint that was written meanwhile', async () => {
    const before = await load()
    await withCheckpoint()
    const { commit } = await ledger.tip()
    expect((await continueCampaign(ledger.repo, before, commit ?? '')).checkpointSeq).toBe(3)
  })

  test('starts again on a tip that does not descend from the old one', async () => {
    const before = await load()
    const chain = openChain({ seq: 0, head: null }, { at: AT, by: BY })
    const sealed = [chain.addEvent(started()), chain.addEvent(note('another history'))]
    const nowhere = await readTip(ledger.repo, null)
    const other = await writeLedgerCommit(ledger.repo, nowhere, sealed, { message: 'started afresh' })
    const after = await continueCampaign(ledger.repo, before, other)
    expect(after.campaign).toMatchObject({ seq: 2, spent: { minutes: 0 } })
  })

  test.each([[[]], [[spent(4)]]])('rejects a tip whose last known event is another one', async more => {
    const before = await load()
    const path = buildEventPath(2).path
    const entry = await ledger.repo.findEntry(before.tip.tree ?? '', path)
    const bytes = (await ledger.repo.blob(entry?.oid ?? '')).toString('utf8')
    await ledger.vandalise({ [path]: bytes.replace('2026-01-02', '2025-01-02') })
    await ledger.write(more)
    const { commit } = await ledger.tip()
    const words = more.length === 0 ? /event 2 .* not the one folded before/ : /event 3 .* its prev/
    await expect(continueCampaign(ledger.repo, before, commit ?? '')).rejects.toThrow(words)
  })
})
