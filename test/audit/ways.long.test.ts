import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { applyAmendment } from '../../src/engine/campaign/start.ts'
import { auditLedger, replayLedger } from '../../src/engine/verify/audit.ts'
import type { CampaignContext } from '../../src/engine/campaign/context.ts'
import { recordEvents } from '../../src/engine/controller/record.ts'
import { submitIdea } from '../../src/engine/campaign/submit.ts'
import { tickCampaign } from '../../src/engine/controller/tick.ts'
import { patchOf, createTestRepository } from '../support/repository.ts'
import {
  type Change,
  clearCopies,
  patches,
  eventOf,
  events,
  FILES,
  finished,
  LONGER_B,
  OPEN_SPEC,
  SHORTER_A,
  SHORTER_B,
  visit,
} from './tampering.ts'
import { releaseTest, selectCases } from '../support/cases.ts'

afterEach(clearCopies)

async function nothingFound(place: CampaignContext): Promise<void> {
  const { problems } = await auditLedger(place)
  const { differences } = await replayLedger(place)
  expect({ problems, differences }).toEqual({ problems: [], differences: [] })
}

const SHORTER_C: Change = { 'src/c.txt': ['cccccccccc\n', 'cccc\n'] }

describe('audit and replay find nothing in a campaign', () => {
  it('that compares samples with a stored score', async () => {
    const spec = `winnow: 1
metric: { primary: { name: bytes, direction: minimize } }
measurement:
  command: sh bench/size.sh
  probes: off
  stability: { mode: repeat, repeat_count: 2 }
gates: [{ name: tests, command: sh bench/test.sh }]
scope: { mutable: [src/], immutable: [bench/] }
propose: [{ use: patch, dir: ideas }]
`
    const site = await createTestRepository({ files: { ...FILES, ...patches([SHORTER_A, LONGER_B]) }, spec })
    await site.start()
    await site.run()
    const kept = await eventOf(site, 'decided', ({ outcome }) => outcome === 'kept')
    const issued = await eventOf(site, 'order-issued', ({ id }) => id === kept.order)
    expect(issued.stop.rule).toBe('stability')
    await nothingFound(site.place)
  })

  releaseTest('whose harness turned out not to be deterministic', async () => {
    const size = `#!/bin/sh
bytes=$(cat src/*.txt | wc -c)
if grep -q x src/a.txt; then bytes=$((bytes - $(od -An -N2 -tu2 /dev/urandom) % 1000 - 1)).$(od -An -N4 -tu4 /dev/urandom | tr -d ' '); fi
printf '{"bytes": %s}' "$bytes"
`
    const noisy = patchOf({ 'src/a.txt': ['aaaaaaaaaa\n', 'x\n'] }, { hypothesis: 'noisy' })
    const files = { ...FILES, 'bench/size.sh': size, 'ideas/1.patch': noisy }
    const site = await createTestRepository({ files, spec: OPEN_SPEC })
    await site.start()
    await site.run()
    expect((await eventOf(site, 'calibrated', ({ deterministic }) => !deterministic)).reason).toContain(
      'not deterministic',
    )
    await nothingFound(site.place)
  })

  it('that lands a person’s own commit, whose results stand in the keeper alone', async () => {
    const site = await finished([], { open: true })
    site.git('checkout', '-q', '-b', 'mine', 'optimize/size')
    site.write('src/a.txt', 'a\n')
    const commit = site.commit('a can be shorter')
    site.git('checkout', '-q', 'main')
    await submitIdea(site.place, {
      commit,
      from: site.repo,
      isOurs: false,
      name: 'mine',
      message: 'a can be shorter',
    })
    await site.run()
    const merged = await eventOf(site, 'merged')
    const parents = (revision: string) => site.git('rev-parse', `${revision}^@`).trim().split('\n')
    expect(merged.head).toBe(commit)
    expect(parents('optimize/size')).toEqual([merged.base.commit, commit])
    expect(site.git('rev-parse', 'optimize-exp/size/mine').trim()).toBe(commit)
    if (merged.results === null) throw new Error('it has no results')
    expect(parents(merged.results)).toEqual([commit])
    expect(site.git('for-each-ref', '--contains', merged.results, '--format=%(refname)').trim()).toBe(
      site.place.refs.closed,
    )
    await nothingFound(site.place)
  })

  it.each(
    selectCases([
      { rest: 'was measured', ideas: [SHORTER_A, SHORTER_B], by: null },
      { rest: 'was never measured', ideas: [SHORTER_A, SHORTER_B, SHORTER_C], by: 'exp-004' },
    ]),
  )('that took a landing back where what is left $rest', async ({ ideas, by }) => {
    const site = await createTestRepository({
      files: { ...FILES, 'src/c.txt': 'cccccccccc\n', ...patches(ideas) },
      spec: OPEN_SPEC,
    })
    await site.start()
    await site.run()
    const { experiment } = await eventOf(site, 'decided', ({ outcome }) => outcome === 'kept')
    await recordEvents(site.place, [{ kind: 'steered', action: 'revert', experiment, reason: 'not wanted' }])
    await site.run()
    expect(await eventOf(site, 'reverted')).toMatchObject({ experiment, by_experiment: by })
    await nothingFound(site.place)
  })

  releaseTest('whose spec was amended by a person', async () => {
    const site = await finished([SHORTER_A], { open: true })
    const { spec_yaml } = await eventOf(site, 'campaign-started')
    const yaml = spec_yaml.replace('max_changed_lines: 20', 'max_changed_lines: 10')
    await applyAmendment(site.place, { yaml, reason: 'smaller changes' })
    await site.run()
    await nothingFound(site.place)
  })

  it('whose spec and harness changed on the default branch', async () => {
    const site = await finished([SHORTER_A], { open: true })
    site.write('bench/test.sh', '#!/bin/sh\nexit 0\n')
    site.write('.winnow/size.yaml', OPEN_SPEC.replace('max_changed_lines: 20', 'max_changed_lines: 10'))
    site.commit('easier tests')
    await site.run()
    const synced = await eventOf(site, 'synced')
    const before = (await events(site)).find(({ seq }) => seq === synced.seq - 1)
    expect(before).toMatchObject({ kind: 'campaign-amended', source: 'default-branch' })
    await nothingFound(site.place)
  })

  it('in the middle of a round, seen from a clone', async () => {
    const site = await createTestRepository({
      files: { ...FILES, ...patches([SHORTER_A, SHORTER_B]) },
      spec: OPEN_SPEC,
    })
    await site.start()
    const hands = await site.hands()
    for (;;) {
      await tickCampaign(hands)
      if ((await events(site)).some(({ kind }) => kind === 'merged')) break
      await hands.runner.settled()
    }
    site.git('clone', '-q', site.repo, join(site.root, 'clone'))
    const there = await visit(site.root, join(site.root, 'clone'), null)
    expect((await events({ place: there })).at(-1)?.kind).toBe('order-dispatched')
    await nothingFound(there)
    await hands.runner.settled()
  })
})
