import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { applyAmendment } from '../../src/engine/campaign/start.ts'
import { requireCampaign } from '../../src/engine/controller/run.ts'
import { renderBrief } from '../../src/ideas/brief.ts'
import { EventRenderer } from '../../src/report/event-log.ts'
import { renderVerdictSentence } from '../../src/report/verdict-text.ts'
import {
  letters,
  shorter,
  SIZE_SPEC,
  createSizeRepository,
  type SizeOptions,
} from '../support/size-repository.ts'
import { patchOf, type TestRepository } from '../support/repository.ts'
import { releaseTest, selectCases } from '../support/cases.ts'

/** Counts bytes as the harness does, and adds what the private ref says for a word that only it knows. */
const HELD_BACK = `#!/bin/sh
extra=0
grep -q "$(cat "$WINNOW_HOLDOUT_DIR/word")" src/*.txt && extra=$(cat "$WINNOW_HOLDOUT_DIR/weight")
printf '{"bytes": %s}' "$(( $(cat src/*.txt | wc -c) + extra ))"
`
/** Dislikes both of two files being short. */
const CLASHING = `#!/bin/sh
extra=0
[ "$(cat src/a.txt src/b.txt | wc -c)" -lt 15 ] && extra=$(cat "$WINNOW_HOLDOUT_DIR/weight")
printf '{"bytes": %s}' "$(( $(cat src/*.txt | wc -c) + extra ))"
`
const REF = 'refs/holdout/a'
const DISLIKES = { word: 'zz\n', weight: '100000000\n' }

const OVERFITTED = patchOf({ 'src/a.txt': [letters('a', 15), 'zz\n'] }, { hypothesis: 'overfitted' })

interface Options extends Omit<SizeOptions, 'spec' | 'files'> {
  max_uses?: number
  change?: (spec: string) => string
  harness?: string
  kept?: Record<string, string> | null
}

function specWith(max_uses: number): string {
  const holdout = `holdout: { command: sh bench/held-back.sh, source: ${REF}, max_uses: ${max_uses} }`
  return SIZE_SPEC.replace('timeout_seconds: 60', `timeout_seconds: 60, ${holdout}`)
}

async function site(ideas: readonly string[], options: Options = {}): Promise<TestRepository> {
  const { max_uses = 20, change = text => text, kept = DISLIKES, harness = HELD_BACK, ...rest } = options
  const files = { 'bench/held-back.sh': harness }
  const made = await createSizeRepository(ideas, { ...rest, files, spec: () => change(specWith(max_uses)) })
  if (kept !== null) putAside(made, kept)
  await made.start()
  return made
}

/** The holdout is a commit that no branch leads to. */
function putAside(made: TestRepository, files: Record<string, string>): void {
  made.bare('update-ref', REF, made.commitOn('main', files))
}

async function uses(made: TestRepository): Promise<number> {
  const { holdout_uses } = await made.campaign()
  return Object.values(holdout_uses).reduce((sum, one) => sum + one, 0)
}

function leftovers(made: TestRepository): string[] {
  const work = join(made.place.dataDir, 'work')
  return readdirSync(work).filter(lane => existsSync(join(work, lane, 'holdout')))
}

/** The file that the experiment's branch ended with. */
async function resultsOf(made: TestRepository, id: string): Promise<string> {
  const closed = (await made.events()).find(event => event.kind === 'closed' && event.experiment === id)
  const results = closed?.kind === 'closed' ? (closed.results ?? '') : ''
  return made.bare('show', `${results}:.winnow/results/size/${id}/results.yaml`)
}

describe('an idea that wins on the metric and loses on the holdout', () => {
  it('is dropped, the next one lands instead, and proposers learn no more than that', async () => {
    const made = await site([OVERFITTED, shorter('a', 5)])
    await made.run()
    expect(await made.outcomes()).toEqual({ overfitted: 'dropped', a5: 'kept' })
    const dropped = await made.experiment('overfitted')
    expect(dropped).toMatchObject({ verdict: 'no gain', reason: 'holdout', primary_delta: 13 })
    expect(renderVerdictSentence(dropped)).toBe('No gain: better on the metric, but failed the holdout')
    expect(await uses(made)).toBe(2)
    await made.proven()

    const { loaded, spec } = await requireCampaign(made.place)
    const told = [
      renderBrief({ campaign: loaded.campaign, spec, incumbentMetrics: {} }),
      await resultsOf(made, 'exp-001'),
      ...(await made.events()).map(event => new EventRenderer().next(event)),
      ...made.said,
      JSON.stringify(loaded.campaign.experiments),
    ].join('\n')
    expect(told).not.toMatch(/1000000\d\d|weight/)
  })

  it('is tried on the tree of the ref that the order names, and no file of it is left', async () => {
    const made = await site([shorter('a', 5)])
    await made.run()
    const orders = (await made.events()).filter(event => event.kind === 'order-issued')
    const tried = orders.filter(({ purpose }) => purpose === 'holdout')
    expect(tried).toHaveLength(1)
    const commit = made.bare('rev-parse', REF)
    const tree = made.bare('rev-parse', `${REF}^{tree}`)
    expect(tried[0]?.stop).toMatchObject({ rule: 'holdout', exact: true, source: { ref: REF, commit, tree } })
    expect(existsSync(join(made.place.dataDir, 'work'))).toBe(true)
    expect(leftovers(made)).toEqual([])
    await made.proven()
  })

  releaseTest('is dropped on top of a winner too, and later runners-up go into the next round', async () => {
    const made = await site([shorter('a', 3), shorter('b', 5), shorter('c', 7)], { harness: CLASHING })
    await made.run()
    expect(await made.outcomes()).toEqual({ a3: 'kept', b5: 'dropped', c7: 'kept' })
    expect(await made.reasonOf('b5')).toBe('holdout')
    const events = await made.events()
    const requeued = events.flatMap(event =>
      event.kind === 'requeued' ? [[event.experiment, event.why, event.reason]] : [],
    )
    expect(requeued).toEqual([['exp-003', 'not-taken', expect.any(String)]])
    const rounds = events.flatMap(event =>
      event.kind === 'order-issued' && event.candidates.some(({ label }) => label === 'exp-003')
        ? [[event.purpose, event.round]]
        : [],
    )
    expect(rounds).toEqual([
      ['experiment', 1],
      ['experiment', 2],
      ['holdout', 2],
    ])
    expect(await uses(made)).toBe(3)
    await made.proven()
  })
})

describe('a campaign with another rule', () => {
  const kinds: [string, string, object][] = [
    ['pairs', ', mode: paired', { exact: false, scale: 'log' }],
    ['a stored score', ', stability: {}', { exact: false, scale: 'linear' }],
  ]
  releaseTest.each(kinds)('%s uses its holdout in the same way', async (_, key, terms) => {
    const made = await site([OVERFITTED, shorter('a', 5)], {
      change: text => text.replace('timeout_seconds: 60,', `timeout_seconds: 60${key},`),
    })
    await made.run()
    expect(await made.outcomes()).toEqual({ overfitted: 'dropped', a5: 'kept' })
    expect(await made.reasonOf('overfitted')).toBe('holdout')
    const asked = (await made.events()).flatMap(event =>
      event.kind === 'order-issued' && event.purpose === 'holdout' ? [event.stop] : [],
    )
    expect(asked).toMatchObject([terms, terms])
    await made.proven()
  })
})

describe('a holdout that is used up', () => {
  it('allows no merge: the campaign pauses, and continues with a fresh holdout', async () => {
    const made = await site([OVERFITTED, shorter('a', 5)], { max_uses: 1 })
    expect(await made.run()).toEqual({
      for: 'person',
      what: expect.stringMatching(
        /the holdout was used 1 time .+winnow merges nothing without it\.\nReplace it with a fresh one, .+max_uses \(winnow amend\), then run winnow resume$/s,
      ),
    })
    expect(await made.outcomes()).toEqual({ overfitted: 'dropped', a5: null })
    await made.person({ kind: 'campaign-resumed', reason: 'nothing changed' })
    expect(await made.run()).toMatchObject({ for: 'person' })
    putAside(made, { word: 'qq\n', weight: '1\n' })
    await made.person({ kind: 'campaign-resumed', reason: 'a fresh one' })
    await made.run()
    expect(await made.outcomes()).toEqual({ overfitted: 'dropped', a5: 'kept' })
    await made.proven()
  })

  releaseTest('is usable again after a higher limit, without a new measurement', async () => {
    const made = await site([OVERFITTED, shorter('a', 5)], { max_uses: 1 })
    await made.run()
    const before = (await made.events()).filter(({ kind }) => kind === 'measured').length
    expect(await applyAmendment(made.place, { yaml: specWith(3), reason: 'one more look' })).toEqual({
      measuredAnew: false,
    })
    await made.person({ kind: 'campaign-resumed', reason: 'amended' })
    await made.run()
    expect(await made.outcomes()).toEqual({ overfitted: 'dropped', a5: 'kept' })
    expect((await made.events()).filter(({ kind }) => kind === 'measured')).toHaveLength(before + 1)
    await made.proven()
  })
})

describe('a missing holdout', () => {
  it('pauses the campaign before a merge, and is looked up again after a resumption', async () => {
    const made = await site([shorter('a', 5)], { kept: null })
    expect(await made.run()).toMatchObject({ what: expect.stringContaining(`there is no ${REF}`) })
    expect(made.bare('rev-parse', 'optimize/size')).toBe(made.bare('rev-parse', 'main'))
    putAside(made, DISLIKES)
    await made.person({ kind: 'campaign-resumed', reason: 'there it is' })
    await made.run()
    expect(await made.outcomes()).toEqual({ a5: 'kept' })
    await made.proven()
  })
})

describe('an interrupted holdout order', () => {
  class Cut extends Error {}

  /** Dies when the holdout's order comes to this point: the third that is measured. */
  function mortal(where: string) {
    let nth = 0
    let dead = false
    return (point: string) => {
      if (point === where) nth += 1
      dead ||= nth === 3
      if (dead) throw new Cut(point)
    }
  }

  it.each(selectCases(['measure:started', 'measure:before-report']))(
    'at %s counts as a use, and is issued again with other coins',
    async where => {
      const made = await site([shorter('a', 5)], { fault: mortal(where) })
      await expect(made.run()).rejects.toThrow('measure:')
      expect(await uses(made)).toBe(1)
      await made.reopen()
      await made.run()
      expect(await made.outcomes()).toEqual({ a5: 'kept' })
      expect(await uses(made)).toBe(2)
      const asked = (await made.events()).flatMap(event =>
        event.kind === 'order-issued' && event.purpose === 'holdout' ? [event.coins] : [],
      )
      expect(new Set(asked).size).toBe(2)
      expect(leftovers(made)).toEqual([])
      await made.proven()
    },
  )
})
