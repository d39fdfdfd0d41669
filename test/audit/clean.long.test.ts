import { join } from 'node:path'
import { rmSync } from 'node:fs'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { auditLedger, replayLedger } from '../../src/engine/verify/audit.ts'
import { requireCampaign } from '../../src/engine/controller/run.ts'
import {
  BROKEN,
  clearCopies,
  type Copy,
  copyOf,
  events,
  everyStep,
  LONGER_B,
  type Original,
  originalOf,
  SHORT_A,
  SHORTER_A,
  SHORTER_B,
  vandalise,
  visit,
} from './tampering.ts'

let original: Original
let site: Copy
beforeAll(async () => {
  original = await originalOf([SHORTER_A, SHORT_A, SHORTER_B, BROKEN, LONGER_B])
})
beforeEach(async () => {
  site = await copyOf(original)
})
afterAll(clearCopies)

describe('a campaign that nobody touched', () => {
  it('has something of every kind to prove', async () => {
    const { loaded } = await requireCampaign(site.place)
    const outcomes = Object.values(loaded.campaign.experiments).map(({ outcome }) => outcome)
    expect(outcomes).toEqual(['kept', 'not_selected', 'runner_up_kept', 'degenerate', 'refused'])
  })

  it('audits clean, and says what an audit cannot show', async () => {
    const result = await auditLedger(site.place)
    expect(result).toMatchObject({ ok: true, campaign: 'size', problems: [], unproven: null, open: [] })
    expect(result.checked).toMatchObject({ incumbents: 2, landings: 2, syncs: 0, reverts: 0, foreign: 0 })
    expect(result.checked.events).toBe((await events(site)).length)
    expect(result.limits).toContain(
      'detects inconsistencies. It cannot detect a forgery by a person who may write every ref',
    )
  })

  it('replays every verdict without a difference', async () => {
    expect(await replayLedger(site.place)).toEqual({ ok: true, decisions: 4, rounds: 1, differences: [] })
  })

  it('audits and replays the same from a fresh clone with an empty cache', async () => {
    site.git('clone', '-q', site.repo, join(site.root, 'clone'))
    const there = await visit(site.root, join(site.root, 'clone'), null)
    expect(await auditLedger(there)).toEqual(await auditLedger(site.place))
    expect(await replayLedger(there)).toEqual(await replayLedger(site.place))
  })

  it('audits offline: a mirror alone is enough', async () => {
    const expected = await auditLedger(site.place)
    const mirror = join(site.root, 'mirror.git')
    site.git('clone', '-q', '--mirror', site.repo, mirror)
    site.git('--git-dir', mirror, 'remote', 'remove', 'origin')
    rmSync(site.repo, { recursive: true })
    expect(await auditLedger(await visit(site.root, mirror, 'none'))).toEqual(expected)
  })

  it('believes neither views nor checkpoint', async () => {
    const views = {
      'README.md': 'all is well\n',
      'digest.md': null,
      'summary.md': 'nothing was lost\n',
      'chart.svg': '<svg/>',
      'badge.svg': null,
    }
    await vandalise(site, { ...views, 'checkpoint.json': '{"seq": 3}\n' })
    expect((await auditLedger(site.place)).ok).toBe(true)
    expect((await replayLedger(site.place)).ok).toBe(true)
  })
})

describe('a campaign with a sync, a revert and a foreign tip', () => {
  it('audits and replays clean from a remote', async () => {
    const open = await everyStep({ remote: true })
    const result = await auditLedger(open.place)
    expect(result).toMatchObject({ problems: [], open: [], ok: true })
    expect(result.checked).toMatchObject({ incumbents: 5, landings: 2, syncs: 1, reverts: 1, foreign: 1 })
    expect((await replayLedger(open.place)).differences).toEqual([])
  })
})
