import { afterAll, expect, it } from 'vitest'
import { collectEvidence } from '../../src/engine/verify/evidence.ts'
import { createEvidence } from '../../src/engine/verify/evidence.ts'
import { findStepGaps } from '../../src/engine/verify/incumbent-steps.ts'
import { readCampaignSpec } from '../../src/spec/load.ts'
import { createEmptyCampaign } from '../../src/model/campaign.ts'
import type { LedgerEvent } from '../../src/model/event.ts'
import { applyEvent } from '../../src/model/fold/fold.ts'
import { packageFiles } from '../support/package-files.ts'
import { patchOf, type TestRepository, createTestRepository } from '../support/repository.ts'
import { clearCopies, copyOf, events, FILES, keepAside, rewrite, whatAuditSays } from './tampering.ts'

afterAll(clearCopies)

const SPEC = `winnow: 1
metric:
  primary: { name: bytes, direction: minimize }
measurement: { command: sh bench/size.sh, probes: off }
gates: [{ name: tests, command: sh bench/test.sh }]
scope: { mutable: [src/, package.json, package-lock.json] }
propose: [{ use: patch, dir: ideas }]
`

/** One landing that adds a package, which a person approved. */
async function landed(more = ''): Promise<TestRepository> {
  const before = packageFiles({})
  const after = packageFiles({ 'left-pad': { version: '1.3.0' } })
  const change = Object.entries(after).map(([path, text]) => [path, [before[path] ?? '', text]] as const)
  const idea = { ...Object.fromEntries(change), 'src/a.txt': ['aaaaaaaaaa\n', 'aaa\n'] as [string, string] }
  const site = await createTestRepository({
    files: { ...FILES, ...before, 'ideas/1.patch': patchOf(idea, { hypothesis: 'pads' }) },
    spec: `${SPEC}${more}`,
  })
  await site.start()
  await site.run()
  const asked = (await site.events()).find(each => each.kind === 'approval-requested')
  if (asked?.kind !== 'approval-requested') throw new Error('nobody was asked')
  const { experiment, digest, packages } = asked
  await site.person({ kind: 'approved', experiment, digest, packages })
  await site.run()
  expect(await site.outcomes()).toEqual({ pads: 'kept' })
  await site.proven()
  return site
}

const OTHER = 'f'.repeat(64)

/** What a landing lacks, where its events had been what `edit` makes of them, with a chain that fits. */
async function landingGaps(
  site: TestRepository,
  edit: (event: LedgerEvent) => LedgerEvent,
): Promise<string[]> {
  const { place } = site
  const campaign = createEmptyCampaign()
  const evidence = createEvidence()
  const gaps: string[] = []
  for (const event of (await site.events()).map(edit)) {
    const spec = event.kind === 'campaign-started' ? null : readCampaignSpec(campaign)
    collectEvidence(evidence, campaign, spec, event)
    if (event.kind === 'incumbent-moved')
      gaps.push(...(await findStepGaps({ context: place, campaign, spec, evidence }, event)))
    applyEvent(campaign, event)
  }
  return gaps
}

it('a landing whose additions were approved for another set only is not proven', async () => {
  const site = await landed()
  const copy = await copyOf(keepAside(site))

  await rewrite(copy, draft => [draft.kind === 'approved' ? { ...draft, digest: OTHER } : draft])
  const { result, words } = await whatAuditSays(copy)
  expect(result.ok).toBe(false)
  expect(words).toMatch(/\(order-issued\): exp-001 was waiting for approval of left-pad 1\.3\.0 \(npm\)/)
  expect((await events(copy)).length).toBe((await site.events()).length)

  expect(await landingGaps(site, event => event)).toEqual([])
  const forged = await landingGaps(site, event => {
    if (event.kind === 'approval-requested') return { ...event, digest: OTHER, additions: [] }
    return event.kind === 'approved' ? { ...event, digest: OTHER } : event
  })
  expect(forged).toEqual(['it adds left-pad 1.3.0 (npm), and no approval is of that set'])
})

it('a landing of what the spec names is not proven where it was young by what the ledger says, and nobody was asked', async () => {
  const site = await landed('dependencies: { approved: [left-pad], min_release_age_days: 7 }\n')
  const letIn = (released: string | null) => (event: LedgerEvent) => {
    if (event.kind !== 'approval-requested') return event
    return { ...event, packages: [], additions: event.additions?.map(each => ({ ...each, released })) }
  }
  const gap = /^it adds left-pad .*, which was not submitted for approval and was not out for 7 days$/
  expect(await landingGaps(site, letIn(new Date().toISOString()))).toEqual([expect.stringMatching(gap)])
  expect(await landingGaps(site, letIn(null))).toEqual([expect.stringMatching(gap)])
  expect(await landingGaps(site, letIn('2020-01-01T00:00:00.000Z'))).toEqual([])
})
